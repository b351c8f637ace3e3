// The theory without a model: gradient flow of the three losses for 100 patches and 1000 classes.
#include <cstdio>

#include <fcam/fcam.h>

using namespace fcam;

int main() {
  for (const Loss loss : {Loss::soft, Loss::hard, Loss::marginal}) {
    const Flow flow{.loss = loss, .patches = 100, .classes = 1000};
    const Trajectory path = integrate(flow, log_times(1, 4e5, 5), {.rtol = 1e-10});
    std::printf("%s: %llu steps\n", to_string(loss).c_str(), static_cast<unsigned long long>(path.steps));
    for (const FlowSample& s : path) std::printf("  t %-8.0f mu %.4f  nu %.4f  loss %.4f\n", s.t, s.mu, s.nu, s.value);
  }
}
