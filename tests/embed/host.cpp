// A host in C++.
#include "limn.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

static_assert(LIMN_VERSION_MAJOR == 0 && LIMN_VERSION_MINOR >= 1, "a version to compare with");

int main() {
  std::unique_ptr<Limn, decltype(&limn_free)> l(limn_new(), limn_free);
  const std::string text = "box f(x: R[n]) -> R[n] = 0.5 * x + 1.25\n";
  if (limn_load_text(l.get(), "host.limn", text.data(), text.size()) != LIMN_GOOD) return 1;

  std::vector<float> numbers = {1, 2, 3};
  std::vector<int64_t> shape = {3};
  LimnArray x = {LIMN_F32, 1, shape.data(), nullptr, numbers.data()};
  LimnInput in = {"x", nullptr, &x};
  LimnEval how = {};
  how.size = sizeof how;
  how.in = &in;
  how.nin = 1;
  LimnArrays out = {}, grads = {};
  if (limn_eval_arrays(l.get(), "f", &how, &out, &grads) != LIMN_GOOD) {
    std::fputs(limn_messages(l.get(), false), stdout);
    return 1;
  }
  const double *y = static_cast<const double *>(out.at[0].array.data);
  const LimnArray *dx = limn_array(&grads, "x");
  bool good = out.n == 1 && y[0] == 1.75 && y[2] == 2.75 && dx &&
              static_cast<const double *>(dx->data)[1] == 0.5;
  return good && !std::strcmp(limn_version(), LIMN_VERSION) ? 0 : 1;
}
