# To be sourced: sets $python to a Python with PyTorch; by default Debian's PyTorch is installed if it is missing.
if [ -z "$python" ]; then
  tools/packages.sh bench
  python=/usr/bin/python3
fi
