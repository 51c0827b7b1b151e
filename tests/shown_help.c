// Shows and a run folder made by hand, the same every time.
#include "shown_help.h"
#include "base/files.h"

#include <math.h>

double shown_noise(uint32_t i) {
  uint64_t x = (uint64_t)i * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static double bell(uint32_t i) { // about normal
  double sum = -6;
  for (uint32_t k = 0; k < 12; k++) sum += shown_noise(12 * i + k);
  return sum;
}

Shown *shown_new(Arena *a, const char *text, const char *view) {
  Shown *s = NEW(a, Shown);
  s->text = text;
  s->view = view;
  return s;
}

double *shown_add(Arena *a, Shown *s, const char *name, const int64_t *shape) {
  Array x = {.name = name, .count = 1, .shape = NEW_ARRAY(a, int64_t, 8)};
  for (; shape[x.rank]; x.rank++) {
    x.shape[x.rank] = shape[x.rank];
    x.count *= shape[x.rank];
  }
  x.data = NEW_ARRAY(a, double, x.count);
  vec_push(a, &s->value.array, x);
  return x.data;
}

// -- one of each ----------------------------------------------------------------------------------
// A soft ring: its size is the number, its colour grows with k.
static void draw_ring(double *to, int side, double size, double strong) {
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) {
      double dx = (x + 0.5) / side - 0.5, dy = (y + 0.5) / side - 0.5;
      double d = sqrt(dx * dx * (1 + size) + dy * dy) - 0.12 - 0.2 * size;
      to[y * side + x] = strong * exp(-d * d * 300);
    }
}

static Shown *images(Arena *a) {
  Shown *s = shown_new(a, "sigmoid(dec(0, 0))", "images");
  double *x = shown_add(a, s, "sigmoid(dec(0, 0))", SHAPE(64, 28, 28));
  for (uint32_t i = 0; i < 64; i++) draw_ring(x + 784 * i, 28, shown_noise(i), 1);
  s->samples = true;
  s->options = 2;
  s->option[0] = s->option[1] = 8;
  return s;
}

static Shown *strip(Arena *a) {
  static const double moment[] = {0, 0.25, 0.5, 0.75, 1};
  Shown *s = shown_new(a, "put(s, t)", "strip");
  double *x = shown_add(a, s, "put(s, t)", SHAPE(4, 5, 28, 28));
  for (uint32_t i = 0; i < 20; i++) draw_ring(x + 784 * i, 28, (i % 5) / 4.0, 0.4 + 0.15 * (i / 5));
  s->samples = true;
  s->over = "t";
  s->moments = 5;
  s->moment = moment;
  return s;
}

static Shown *pairs(Arena *a) {
  Shown *s = shown_new(a, "s, put(s, a)", "strip");
  double *x = shown_add(a, s, "s", SHAPE(3, 16, 16, 3));
  double *y = shown_add(a, s, "put(s, a)", SHAPE(3, 256));
  for (uint32_t i = 0; i < 3 * 256; i++) {
    for (uint32_t k = 0; k < 3; k++) x[3 * i + k] = ((i % 16) * k + i / 16 % 16) / 48.0;
    y[i] = bell(i);
  }
  s->samples = true;
  return s;
}

static const char *const *class_names(void) {
  static const char *const name[] = {"zero", "one", "two",   "three", "four",
                                     "five", "six", "seven", "eight", "nine"};
  return name;
}

static void name_labels(Arena *a, Shown *s, uint32_t array, const char *const *name) {
  const char *const **all = NEW_ARRAY(a, const char *const *, s->value.array.n);
  all[array] = name;
  s->name = (const char *const *const *)all;
}

static Shown *confusion(Arena *a) {
  Shown *s = shown_new(a, "confusion(classify(image), label)", NULL);
  double *x = shown_add(a, s, "confusion(classify(image), label)", SHAPE(10, 10));
  for (uint32_t i = 0; i < 100; i++)
    x[i] = i / 10 == i % 10 ? 960 + floor(60 * shown_noise(i)) : floor(20 * pow(shown_noise(i), 4));
  name_labels(a, s, 0, class_names());
  return s;
}

static Shown *latent(Arena *a) {
  Shown *s = shown_new(a, "enc(x), label", "latent");
  double *x = shown_add(a, s, "enc(x)", SHAPE(800, 8)),
         *label = shown_add(a, s, "label", SHAPE(800));
  for (uint32_t i = 0; i < 800; i++) {
    label[i] = i % 10;
    for (uint32_t k = 0; k < 8; k++)
      x[8 * i + k] = 4 * bell(1000 * (i % 10) + k) / (1 + k) + 0.6 * bell(90000 + 8 * i + k);
  }
  s->samples = true;
  name_labels(a, s, 1, class_names());
  return s;
}

static Shown *scatter(Arena *a) {
  Shown *s = shown_new(a, "x, f(x)", "scatter");
  double *x = shown_add(a, s, "x", SHAPE(300, 2)), *f = shown_add(a, s, "f(x)", SHAPE(300));
  for (uint32_t i = 0; i < 300; i++) {
    double t = 3.14159 * shown_noise(i);
    x[2 * i] = cos(t) + (i % 2 ? 1 : 0) + 0.1 * bell(i);
    x[2 * i + 1] = (i % 2 ? -1 : 1) * sin(t) + (i % 2 ? 0.5 : 0) + 0.1 * bell(i + 400);
    f[i] = sin(3 * x[2 * i]);
  }
  s->samples = true;
  return s;
}

static Shown *curves(Arena *a, const char *view) {
  Shown *s = shown_new(a, "rabbits, foxes", view);
  double *x = shown_add(a, s, "rabbits", SHAPE(2000)), *y = shown_add(a, s, "foxes", SHAPE(2000));
  double r = 1, f = 0.6;
  for (uint32_t i = 0; i < 2000; i++) {
    x[i] = r, y[i] = f;
    double dr = r * (1 - f), df = f * (r - 1);
    r += 0.015 * dr, f += 0.015 * df;
  }
  return s;
}

static Shown *paths(Arena *a) {
  Shown *s = shown_new(a, "p, q, w", "paths");
  double *p = shown_add(a, s, "p", SHAPE(400, 3)), *q = shown_add(a, s, "q", SHAPE(400, 2)),
         *w = shown_add(a, s, "w", SHAPE(400, 5));
  int64_t *step = NEW_ARRAY(a, int64_t, 400);
  static const char *const hand[] = {"rock", "paper", "scissors"};
  for (uint32_t i = 0; i < 400; i++) {
    double t = i / 30.0, sum = 0;
    step[i] = 25 * i;
    for (uint32_t k = 0; k < 3; k++) p[3 * i + k] = (1 + exp(-t / 6) * cos(t + 2.0944 * k)) / 3;
    q[2 * i] = 0.5 + 0.45 * exp(-t / 5) * cos(1.5 * t), q[2 * i + 1] = 1 - q[2 * i];
    for (uint32_t k = 0; k < 5; k++) sum += w[5 * i + k] = exp(1.5 * sin(t / 3 + k) * (k + 1) / 3);
    for (uint32_t k = 0; k < 5; k++) w[5 * i + k] /= sum;
  }
  name_labels(a, s, 0, hand);
  s->step = step;
  return s;
}

static Shown *table(Arena *a) {
  Shown *s = shown_new(a, "x, f(x), label", "table");
  double *x = shown_add(a, s, "x", SHAPE(30)), *f = shown_add(a, s, "f(x)", SHAPE(30, 2)),
         *label = shown_add(a, s, "label", SHAPE(30));
  for (uint32_t i = 0; i < 30; i++) {
    x[i] = 100 * bell(i);
    f[2 * i] = bell(2 * i), f[2 * i + 1] = floor(1000 * shown_noise(i));
    label[i] = i % 10;
  }
  f[6] = NAN;
  s->samples = true;
  name_labels(a, s, 2, class_names());
  return s;
}

static Shown *letters(Arena *a) {
  static const char *const letter[] = {"a", "e", "h", "n", "o", "s", "t", " ", ",", "\n", "<"};
  Shown *s = shown_new(a, "generate[model, length: 500](\"\\n\")", "text");
  double *x = shown_add(a, s, "generate[model, length: 500](\"\\n\")", SHAPE(500));
  for (uint32_t i = 0; i < 500; i++) {
    double u = shown_noise(i + 7);
    x[i] = i % 6 == 5 ? 7 : i % 97 == 96 ? 9 : u < 0.02 ? 10 : floor(7 * u);
  }
  name_labels(a, s, 0, letter);
  return s;
}

static Shown *spacetime(Arena *a) {
  Shown *s = shown_new(a, "u", "spacetime");
  double *u = shown_add(a, s, "u", SHAPE(120, 200));
  for (uint32_t i = 0; i < 120 * 200; i++)
    u[i] = sin((i % 200) / 9.0 + (i / 200) / 14.0) + sin((i % 200) / 23.0 - (i / 200) / 9.0);
  return s;
}

static Shown *payoff(Arena *a) {
  static const double value[] = {0, -1, 1, 1, 0, -1, -1, 1, 0};
  Shown *s = shown_new(a, "U", "matrix");
  memcpy(shown_add(a, s, "U", SHAPE(3, 3)), value, sizeof value);
  return s;
}

static Shown *refused(Arena *a) {
  Shown *s = shown_new(a, "f(x)", "images");
  shown_add(a, s, "f(x)", SHAPE(10, 7));
  s->samples = true;
  return s;
}

void shown_gallery(Arena *a, Shows *to) {
  Shown *all[] = {confusion(a),       images(a),    strip(a),  pairs(a),
                  latent(a),          scatter(a),   paths(a),  curves(a, "curves"),
                  curves(a, "phase"), spacetime(a), payoff(a), table(a),
                  letters(a),         refused(a)};
  for (uint32_t i = 0; i < COUNT(all); i++) vec_push(a, to, *all[i]);
}

// -- a run folder ---------------------------------------------------------------------------------
static void write_metrics(Buf *b) {
  buf_text(b, "step,epoch,time,fit,smooth,fit.hits,sure\n");
  for (uint32_t i = 1; i <= 3000; i++) {
    double t = i;
    double fit = 2.3 * exp(-t / 300.0) * (0.8 + 0.4 * shown_noise(i)) + 0.02 * shown_noise(i + 1);
    buf_printf(b, "%u,%.6g,%.3f,%.6g,%.6g", i, i / 469.0, i * 0.01, fit,
               1e-4 + 0.3 * exp(-t / 400.0) * (0.9 + 0.2 * shown_noise(i + 9)));
    if (i % 150)
      buf_text(b, ",,\n");
    else
      buf_printf(b, ",%.6g,%.6g\n", 0.98 - 0.4 * exp(-t / 500.0) + 0.01 * shown_noise(i),
                 i == 600 ? NAN : 0.9 - 0.5 * exp(-t / 700.0));
  }
  buf_text(b, "3001,6.4"); // a row that was cut off
}

static const char run_json[] =
    "{\n  \"limn\": \"0.1\",\n  \"program\": \"examples/digits.limn\",\n  \"set\": \"\",\n"
    "  \"seed\": 0,\n  \"batch\": 128,\n  \"precision\": \"32\",\n"
    "  \"engine\": \"compiled by /usr/bin/cc in 0.56 s, 2 threads\",\n  \"system\": \"Linux\",\n"
    "  \"machine\": \"x86_64\",\n  \"cores\": 2,\n  \"state\": \"finished\",\n  \"steps\": 3000,\n"
    "  \"seconds\": 31.6,\n  \"best\": 0.9871,\n  \"best_step\": 2850,\n"
    "  \"measures\": [{\"name\": \"fit.hits\", \"on\": \"mnist.test\", \"up\": true}, "
    "{\"name\": \"sure\", \"on\": \"training data\", \"up\": true}],\n"
    "  \"hash\": \"2f57880dfa99edb5\",\n  \"finished\": true\n}\n";

static const char program[] =
    "# Digits: the first program. <script>alert(\"no\")</script>\n\n"
    "given image, label from mnist\n\n"
    "learn classify : R[28 28] -> R[10] = flatten ; dense[512] ; relu ; dense[10]\n\n"
    "goal fit    : classify(image) ~ label   by cross_entropy\n"
    "goal smooth : norm(classify(image)) ~ 0   times 1e-3 # a weak pull that makes this line long "
    "enough to scroll\n"
    "measure fit by hits on mnist.test\n"
    "measure sure : max(softmax(classify(image)))\n\n"
    "train 5 epochs, batch 128, adam(0.001)\n"
    "show confusion(classify(image), label) on mnist.test\n"
    "show generate[model, length: 500](\"\\n\") as text\n";

bool shown_folder(Arena *a, const char *dir) {
  Buf metrics = buf_new(a);
  write_metrics(&metrics);
  return !file_write(a, arena_format(a, "%s/run.json", dir), run_json, strlen(run_json)) &&
         !file_write(a, arena_format(a, "%s/program.limn", dir), program, strlen(program)) &&
         !file_write(a, arena_format(a, "%s/metrics.csv", dir), metrics.at, metrics.n);
}
