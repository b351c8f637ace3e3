// Where time goes, for who asks: the parts of a computation by name, with their seconds and arithmetic.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace fcam {

/// What has been measured of one part.
struct ProfilePart {
  std::string name;  ///< "focus.conv1", "data"
  std::string pass;  ///< "forward" or "backward"; empty where there is no such thing
  double seconds = 0;
  double flops = 0;  ///< floating point operations, a multiplication and an addition being two
};

/// Parts in the order in which they were first met. For one thread.
class Profile {
 public:
  void add(std::string_view name, std::string_view pass, double seconds, double flops) {
    for (ProfilePart& part : parts_) {
      if (part.name != name || part.pass != pass) continue;
      part.seconds += seconds;
      part.flops += flops;
      return;
    }
    parts_.push_back({std::string(name), std::string(pass), seconds, flops});
  }
  void clear() { parts_.clear(); }
  const std::vector<ProfilePart>& parts() const { return parts_; }

 private:
  std::vector<ProfilePart> parts_;
};

/// Adds the time that it lives to a part of a profile. Does nothing where the profile is null. The names must outlive
/// it.
class ProfileTimer {
 public:
  ProfileTimer(Profile* profile, std::string_view name, std::string_view pass = "", double flops = 0)
      : profile_(profile), name_(name), pass_(pass), flops_(flops) {
    if (profile_ != nullptr) start_ = Clock::now();
  }
  ~ProfileTimer() {
    if (profile_ == nullptr) return;
    profile_->add(name_, pass_, std::chrono::duration<double>(Clock::now() - start_).count(), flops_);
  }
  ProfileTimer(const ProfileTimer&) = delete;
  ProfileTimer& operator=(const ProfileTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Profile* profile_;
  std::string_view name_, pass_;
  double flops_;
  Clock::time_point start_{};
};

}  // namespace fcam
