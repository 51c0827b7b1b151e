// A method for stiff systems: the Rosenbrock method Rodas5P (Steinebach, BIT Numerical Mathematics
// 63, 2023): order 5, an error estimate of order 4, a dense output of order 4.
//
// Eight stages, each one linear system with the same matrix I/(h diagonal) - J: no iteration that
// might not converge, and one factorization for a step. It is L-stable, and stiffly accurate: its
// last stages are at the end of the step. J is given by the problem or computed by differences,
// once per step, since the order depends on it. An algebraic variable has no I in its row: the last
// stages make its equation hold, and the order is the same. The derivative of the rates by time is
// found by differences.
//
// In the transformed form, with stages u_j:
//   (I/(h diagonal) - J) u_i = f(t + at_i h, x + sum a_ij u_j) + sum c_ij u_j / h + h late_i df/dt
#include "run/solve/solve_own.h"

#include <float.h>
#include <math.h>

enum { STAGES = 8, LARGEST_MATRIX = 8192 };
static const double diagonal = 0.21193756319429014;
static const double at[STAGES] = {
    0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1};
static const double in_time[STAGES] = {0.21193756319429014,
                                       -0.42387512638858027,
                                       -0.3384627126235924,
                                       1.8046452872882734,
                                       2.325825639765069,
                                       0,
                                       0,
                                       0};
// Coefficients of the first six stages; each of the last two adds the previous stage to the
// argument of the one before.
static const double of_state[6][5] = {
    {0},
    {3},
    {2.849394379747939, 0.45842242204463923},
    {-6.954028509809101, 2.489845061869568, -10.358996098473584},
    {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
     0.030198172008377946}};
static const double of_stages[STAGES][7] = {
    {0},
    {-14.155112264123755},
    {-17.97296035885952, -2.859693295451294},
    {147.12150275711716, -1.41221402718213, 71.68940251302358},
    {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
    {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
     -0.6610691825249471},
    {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
     -19.097331116725623, -28.087943162872662},
    {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
     -40.06618937091002, -54.66780262877968, -9.48861652309627}};
// Between the ends: x + q (next - x) + q (1 - q) (b0 + q (b1 + q b2)), b_i = sum between_ij u_j
static const double between[3][STAGES] = {
    {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204,
     0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
    {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796,
     20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372},
    {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643,
     -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722}};

struct Stiff {
  Matrix *matrix;
  double *jacobian;         // at (t, x), by the places of the matrix
  uint32_t *group, groups;  // colours of columns
  double *diagonal, *share; // [n] of the matrix, row by row
  double *v;                // [n] a direction
  double *in_time;          // [n] df/dt
  uint64_t step;            // for which step J was computed
  bool made;
};

// A pattern with many nonzeros is not worth using.
static const Pattern *known_pattern(const Solver *s) {
  const Problem *p = &s->problem;
  const Pattern *found = p->pattern ? p->pattern(p->context) : NULL;
  return found && found->start[s->n] <= 0.3 * s->n * s->n ? found : NULL;
}

void stiff_new(Solver *s) {
  size_t n = s->n;
  Stiff *f = s->stiff = NEW(s->arena, Stiff);
  const Pattern *p = known_pattern(s);
  if (!p && n > LARGEST_MATRIX) {
    solver_fail(s,
                "the stiff method needs a dense Jacobian of %u by %u here, since each rate may "
                "depend on all states; the limit is %d",
                s->n, s->n, LARGEST_MATRIX);
    return;
  }
  f->matrix = matrix_new(s->arena, p ? p : pattern_full(s->arena, s->n));
  p = matrix_pattern(f->matrix);
  f->jacobian = NEW_ARRAY(s->arena, double, p->start[n] + 1);
  f->group = NEW_ARRAY(s->arena, uint32_t, n + 1);
  if (p->start[n] < n * n)
    f->groups = pattern_colours(s->arena, p, f->group);
  else
    for (f->groups = 0; f->groups < n; f->groups++) f->group[f->groups] = f->groups;
  double **row[] = {&f->diagonal, &f->share, &f->v, &f->in_time};
  for (uint32_t i = 0; i < COUNT(row); i++) *row[i] = NEW_ARRAY(s->arena, double, n + 1);
}

// -- the Jacobian ---------------------------------------------------------------------------------
// Extracts the columns of one colour from their common directional derivative.
static void extract_columns(Stiff *f, uint32_t group, const double *out) {
  const Pattern *p = matrix_pattern(f->matrix);
  for (uint32_t c = 0; c < p->n; c++)
    for (uint32_t k = p->start[c]; f->group[c] == group && k < p->start[c + 1]; k++)
      f->jacobian[k] = out[p->row[k]] / f->v[c];
}

static bool directional_derivative(Solver *s, uint32_t group) {
  const Problem *p = &s->problem;
  Stiff *f = s->stiff;
  for (uint32_t c = 0; c < s->n; c++) f->v[c] = f->group[c] == group;
  return p->change(p->context, s->t, s->x, s->delayed, f->v, s->next) ||
         solver_fail(s, "the derivative of the rates cannot be computed at t = %.10g", s->t);
}

// Central differences.
static bool difference(Solver *s, double h, uint32_t group) {
  Stiff *f = s->stiff;
  double *x = s->trial, *up = s->next, *down = s->look;
  for (uint32_t c = 0; c < s->n; c++) {
    double size = fmax(fmax(fabs(s->x[c]), fabs(h * s->rate[c])), 1e-8);
    bool in = f->group[c] == group;
    x[c] = s->x[c] + (in ? 6e-6 * size : 0);
    f->v[c] = in ? s->x[c] - 6e-6 * size : s->x[c];
  }
  if (!solver_rates(s, s->t, x, SIDE_RIGHT, up)) return false;
  if (!solver_rates(s, s->t, f->v, SIDE_RIGHT, down)) return false;
  for (uint32_t i = 0; i < s->n; i++) {
    f->v[i] = x[i] - f->v[i];
    up[i] -= down[i];
  }
  return true;
}

static bool find_jacobian(Solver *s, double h) {
  bool given = s->problem.change != NULL;
  if (given && s->problem.delayed) delays_read(s, s->t, SIDE_RIGHT);
  for (uint32_t g = 0; g < s->stiff->groups; g++) {
    if (!(given ? directional_derivative(s, g) : difference(s, h, g))) return false;
    extract_columns(s->stiff, g, s->next);
  }
  return true;
}

// Only times after t are evaluated: delayed values may jump at t.
static bool time_derivative(Solver *s, double h) {
  double t = s->t, step = fmax(1e-4 * h, 16 * DBL_EPSILON * fabs(t)), *one = s->next,
         *two = s->look;
  step = (t + step) - t;
  if (!solver_rates(s, t + step, s->x, SIDE_LEFT, one)) return false;
  if (!solver_rates(s, t + 2 * step, s->x, SIDE_LEFT, two)) return false;
  for (uint32_t i = 0; i < s->n; i++)
    s->stiff->in_time[i] = (4 * (one[i] - s->rate[i]) - (two[i] - s->rate[i])) / (2 * step);
  return true;
}

static bool is_finite(const Stiff *f, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += 0 * f->in_time[i];
  for (uint32_t k = 0; k < matrix_pattern(f->matrix)->start[n]; k++) sum += 0 * f->jacobian[k];
  return sum == 0;
}

// If J is not finite (then it is not `made`), a shorter step evaluates nearer points.
static bool linearize(Solver *s, double h) {
  Stiff *f = s->stiff;
  if (f->made && f->step == s->steps) return true;
  if (!(s->problem.timeless || time_derivative(s, h)) || !find_jacobian(s, h)) return false;
  f->made = is_finite(f, s->n), f->step = s->steps;
  return true;
}

static bool factor(Solver *s, double h) {
  Stiff *f = s->stiff;
  const uint8_t *constrained = s->problem.constrained;
  for (uint32_t i = 0; i < s->n; i++) {
    f->diagonal[i] = constrained && constrained[i] ? 0 : 1 / (h * diagonal);
    f->share[i] = 1;
  }
  return matrix_factor(f->matrix, f->jacobian, f->diagonal, f->share);
}

bool stiff_factor_algebraic(Solver *s) {
  Stiff *f = s->stiff;
  for (uint32_t i = 0; i < s->n; i++) {
    f->share[i] = s->problem.constrained[i];
    f->diagonal[i] = 1 - f->share[i];
  }
  f->made = false;
  return find_jacobian(s, 0) && matrix_factor(f->matrix, f->jacobian, f->diagonal, f->share);
}

bool stiff_is_lost(const Solver *s) { return s->stepper == &stiff_stepper && !s->stiff->made; }

void stiff_solve(Solver *s, double *b) { matrix_solve(s->stiff->matrix, b); }

void stiff_row_sizes(const Solver *s, double *x) {
  const Stiff *f = s->stiff;
  const Pattern *p = matrix_pattern(f->matrix);
  memset(x, 0, s->n * sizeof(double));
  for (uint32_t c = 0; c < s->n; c++)
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
      x[p->row[k]] = fmax(x[p->row[k]], fabs(f->jacobian[k]));
}

// Computes the argument of a stage in `next`.
static void stage_argument(Solver *s, int stage) {
  double *x = s->next;
  for (uint32_t i = 0; i < s->n; i++) {
    if (stage >= 6) {
      x[i] += s->k[stage - 1][i];
      continue;
    }
    x[i] = s->x[i];
    for (int j = 0; j < stage; j++) x[i] += of_state[stage][j] * s->k[j][i];
  }
}

static bool solve_stage(Solver *s, int stage, double h) {
  double *u = s->k[stage];
  if (stage == 0)
    memcpy(u, s->rate, s->n * sizeof(double));
  else if (!solver_rates(s, s->t + at[stage] * h, s->next, SIDE_LEFT, u))
    return false;
  solver_note_nonfinite(s, s->t + at[stage] * h, u);
  for (uint32_t i = 0; i < s->n; i++) {
    double sum = 0;
    for (int j = 0; j < stage; j++) sum += of_stages[stage][j] * s->k[j][i];
    if (!s->problem.constrained || !s->problem.constrained[i]) u[i] += sum / h;
    u[i] += h * in_time[stage] * s->stiff->in_time[i];
  }
  matrix_solve(s->stiff->matrix, u);
  return true;
}

static bool try(Solver *s, double h) {
  if (!linearize(s, h)) return false;
  s->error = INFINITY;
  if (!s->stiff->made || !factor(s, h)) return true;
  for (int stage = 0; stage < STAGES && !s->nonfinite; stage++) {
    stage_argument(s, stage);
    if (!solve_stage(s, stage, h)) return false;
  }
  if (s->nonfinite) return true;
  for (uint32_t i = 0; i < s->n; i++) s->next[i] += s->k[STAGES - 1][i];
  solver_norm(s, s->k[STAGES - 1], s->next);
  return true;
}

static void dense(Solver *s, double h) {
  double *c = s->dense.part;
  size_t n = s->n;
  s->dense.from = s->t, s->dense.h = h;
  for (size_t i = 0; i < n; i++) {
    double b[3] = {0};
    for (int j = 0; j < STAGES; j++)
      for (int r = 0; r < 3; r++) b[r] += between[r][j] * s->k[j][i];
    c[i] = s->x[i];
    c[n + i] = s->next[i] - s->x[i];
    c[2 * n + i] = b[0];
    c[3 * n + i] = b[1] + b[2];
    c[4 * n + i] = -b[2];
  }
}

// A mode that decays within the step limits the error to the distance at which the rates are right
// again.
static void error_of(Solver *s, double *off) {
  for (uint32_t i = 0; i < s->n; i++) off[i] /= diagonal;
  matrix_solve(s->stiff->matrix, off);
}

const SolverStepper stiff_stepper = {.name = "the stiff method",
                                     .stages = STAGES,
                                     .exponent = 1.0 / 5,
                                     .try = try,
                                     .dense = dense,
                                     .error_of = error_of};
