// fleetsim's rules for draws (engine.md, Randomness) in C: the same keys, gaps and latencies as Sources/SimulationKernel.
//
// A draw is a hash of its entity: a child of a child of the seed's key. Tables turn it into whole microseconds. The exact
// function does so where a table's error might decide the rounding. Its log and exp are libm's, whose last bit may differ.
#include <math.h>
#include <stdint.h>
#include <string.h>

// ---- keys: SplitMix64; the purposes have the numbers of RandomPurpose
enum { EVENTS = 1, FLUSH_PHASE = 2, NETWORK_UP = 4, NETWORK_DOWN = 5, JITTER = 7, ORDER = 9 };
static inline uint64_t child(uint64_t key, uint64_t n) {
  uint64_t z = key + (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
static inline uint64_t root_key(uint64_t seed) { return child(seed, 0); }
static inline uint64_t attempt_name(uint64_t ordinal, uint64_t number) { return (ordinal + 1) << 16 | number; }
static inline uint64_t below(uint64_t key, uint64_t n) { return (uint64_t)((unsigned __int128)key * n >> 64); }

// ---- parts of a double, and its nearest whole number
#define MANTISSA ((1ull << 52) - 1)
static inline uint64_t bits_of(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static inline double from_1_to_2(uint64_t mantissa) { double x; mantissa |= 1023ull << 52; memcpy(&x, &mantissa, 8); return x; }
static inline int rounded(double x, double error, uint64_t *n) {                       // 0: the error might decide
  double sum = x + 0x1.8p52;
  *n = bits_of(sum) - bits_of(0x1.8p52);
  return fabs(x - (sum - 0x1.8p52)) < .5 - error;
}

// ---- gaps of a Poisson process: -ln(u) by a logarithm in 128 cells
static struct { double log, inverse; } log_cell[128];
static __attribute__((noinline)) uint64_t exact_gap(uint64_t key, double mean) {
  return (uint64_t)(-log((double)((key >> 11) + 1) * 0x1p-53) * mean + .5);
}
static inline uint64_t gap(uint64_t key, double mean) {
  uint64_t u = bits_of((double)(int64_t)((key >> 11) + 1) * 0x1p-53), cell = u >> 45 & 127, n;
  double r = from_1_to_2(u & MANTISSA) * log_cell[cell].inverse - 1;
  double log_of_rest = log_cell[cell].log + (r - r * r * (.5 - r * (1. / 3 - r * .25)));
  double x = -((double)((int64_t)(u >> 52) - 1023) * 0.6931471805599453 + log_of_rest) * mean;
  return __builtin_expect(rounded(x, (mean + x) * 0x1p-41, &n), 1) ? n : exact_gap(key, mean);
}

// ---- the standard normal quantile: Wichura, "Algorithm AS 241", Appl. Statist. 37 (1988), PPND16
static double ratio(double r, const double c[2][8]) {
  double n = c[0][7], d = c[1][7];
  for (int i = 6; i >= 0; i--) { n = n * r + c[0][i]; d = d * r + c[1][i]; }
  return n / d;
}
static double normal_quantile(double p) {
  static const double middle[2][8] = {
    { 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3 },
    { 1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
      2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3 } };
  static const double near[2][8] = {
    { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
      1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4 },
    { 1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9 } };
  static const double far[2][8] = {
    { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7 },
    { 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
      7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15 } };
  double q = p - .5, r = sqrt(-log(q < 0 ? p : 1 - p));
  if (fabs(q) <= .425) return q * ratio(.180625 - q * q, middle);
  return copysign(r <= 5 ? ratio(r - 1.6, near) : ratio(r - 5, far), q);
}

// ---- latencies: a minimum plus a log-normal part, by cubics in 32 cells an octave of the probability, 20 on each side
enum { CELL_BITS = 5, CELLS = 1 << CELL_BITS, OCTAVES = 20 };
static double cubic[2][OCTAVES * CELLS][4], cubic_error, minimum, mu, sigma;
static double latency_at(double z) { return minimum + exp(mu + sigma * z); }
static inline double cubic_at(const double *c, double x) { return c[0] + c[1] * x + (c[2] + c[3] * x) * (x * x); }
static __attribute__((noinline)) uint32_t exact_latency(uint64_t key) {
  return (uint32_t)fmin(UINT32_MAX, latency_at(normal_quantile(((double)(key >> 12) + .5) * 0x1p-52)) + .5);
}
static inline uint32_t latency(uint64_t key) {
  uint64_t upper = key >> 63, lower = (key >> 12 ^ -upper) & MANTISSA >> 1, n;
  uint64_t p = bits_of((double)(int64_t)lower + .5);
  int64_t cell = (int64_t)(p >> (52 - CELL_BITS)) - ((1023 + 51 - OCTAVES) << CELL_BITS);
  if (__builtin_expect(cell < 0, 0)) return exact_latency(key);
  double x = cubic_at(cubic[upper][cell], from_1_to_2(p << CELL_BITS & MANTISSA) - 1.5);
  return __builtin_expect(rounded(x, x * cubic_error + 1e-6, &n), 1) ? (uint32_t)n : exact_latency(key);
}

// Makes the tables. The latency's parameters are microseconds.
static void draws_init(double shortest, double median, double p99) {
  for (int i = 0; i < 128; i++) {
    double middle = 1 + (i + .5) / 128;
    log_cell[i].log = log(middle);
    log_cell[i].inverse = 1 / middle;
  }
  minimum = shortest; mu = log(median - shortest); sigma = (log(p99 - shortest) - mu) / normal_quantile(.99);
  // Four Chebyshev nodes make a cubic; its error is looked for between them and at both ends.
  const double outer = .4619397662556434, inner = .1913417161825449;
  const double place[9] = { -outer, -inner, inner, outer, -.5, -.3535533905932738, 0, .3535533905932738, .5 };
  const double o2 = outer * outer, i2 = inner * inner;
  for (int i = 0; i < 2 * OCTAVES * CELLS; i++) {
    double start = ldexp(1, i / 2 / CELLS - OCTAVES - 1), *c = cubic[i & 1][i / 2], f[9];
    for (int k = 0; k < 9; k++) {
      double z = normal_quantile(start + (i / 2 % CELLS + .5 + place[k]) * start / CELLS);
      f[k] = latency_at(i & 1 ? -z : z);
    }
    double even_outer = (f[3] + f[0]) / 2, odd_outer = (f[3] - f[0]) / (2 * outer);
    double even_inner = (f[2] + f[1]) / 2, odd_inner = (f[2] - f[1]) / (2 * inner);
    c[2] = (even_outer - even_inner) / (o2 - i2); c[3] = (odd_outer - odd_inner) / (o2 - i2);
    c[0] = even_inner - c[2] * i2; c[1] = odd_inner - c[3] * i2;
    for (int k = 4; k < 9; k++) cubic_error = fmax(cubic_error, fabs(cubic_at(c, place[k]) - f[k]) / f[k]);
  }
  cubic_error = 2 * cubic_error + 0x1p-48;
}
