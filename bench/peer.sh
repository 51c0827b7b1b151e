# To be sourced: $python is one that has PyTorch; where none was named, Debian's, installed if it is missing.
if [ -z "$python" ]; then
  tools/packages.sh bench
  python=/usr/bin/python3
fi
