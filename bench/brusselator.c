// The Brusselator of brusselator.limn by CVODE: BDF with a band of two on each side, by differences.
//   brusselator CELLS TOLERANCE: seconds of the processor, steps, and three numbers at the end
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>
#include <time.h>

// u and v side by side, cell by cell
static int rates(realtype t, N_Vector state, N_Vector rate, void *context) {
  const long n = *(const long *)context;
  const double *restrict x = N_VGetArrayPointer(state), d = 0.02 * (n + 1.0) * (n + 1.0);
  double *restrict dx = N_VGetArrayPointer(rate);
  (void)t;
  for (long i = 0; i < n; i++) {
    double u = x[2 * i], v = x[2 * i + 1];
    double u0 = i ? x[2 * i - 2] : 1, u1 = i < n - 1 ? x[2 * i + 2] : 1;
    double v0 = i ? x[2 * i - 1] : 3, v1 = i < n - 1 ? x[2 * i + 3] : 3;
    dx[2 * i] = 1 + u * u * v - 4 * u + d * (u0 - 2 * u + u1);
    dx[2 * i + 1] = 3 * u - u * u * v + d * (v0 - 2 * v + v1);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  long n = atol(argv[1]), steps = 0;
  double tolerance = atof(argv[2]), *x;
  realtype t = 0;
  SUNContext world;
  if (SUNContext_Create(NULL, &world)) return 1;
  N_Vector state = N_VNew_Serial(2 * n, world);
  x = N_VGetArrayPointer(state);
  for (long i = 0; i < n; i++) {
    x[2 * i] = 1 + sin(6.283185307179586 * (double)(i + 1) / (double)(n + 1));
    x[2 * i + 1] = 3;
  }
  void *cvode = CVodeCreate(CV_BDF, world);
  clock_t begun = clock();
  SUNMatrix matrix = SUNBandMatrix(2 * n, 2, 2, world);
  SUNLinearSolver solver = SUNLinSol_Band(state, matrix, world);
  if (CVodeInit(cvode, rates, 0, state) || CVodeSStolerances(cvode, tolerance, 1e-3 * tolerance) ||
      CVodeSetUserData(cvode, &n) || CVodeSetLinearSolver(cvode, solver, matrix) ||
      CVodeSetMaxNumSteps(cvode, 1000000) || CVode(cvode, 10, state, &t, CV_NORMAL) < 0)
    return 1;
  double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
  CVodeGetNumSteps(cvode, &steps);
  printf("%.4f %ld %.12f %.12f %.12f\n", seconds, steps, x[2 * (n / 4)], x[2 * (n / 2)],
         x[2 * (n / 4) + 1]);
  return 0;
}
