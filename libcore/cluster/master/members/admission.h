// Admission of members: Hello and Welcome, names, keys of one use, refusals.

#ifndef DL_LIBCORE_CLUSTER_MASTER_MEMBERS_ADMISSION_H_
#define DL_LIBCORE_CLUSTER_MASTER_MEMBERS_ADMISSION_H_

#include <cstdint>
#include <map>
#include <string>

#include "libcore/base/line_limit.h"
#include "libcore/cluster/master/hooks.h"
#include "libcore/cluster/master/members/member_watch.h"
#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class Admission {
 public:
  // hooks: calls welcome, is_reserved and computes_with.
  Admission(RunContext& context, MemberWatch& watch, const Hooks& hooks)
      : context_(context), watch_(watch), hooks_(hooks) {}

  // Handles a Hello: its sender becomes a member, or is refused.
  void admit(const RouterSocket::Incoming& incoming);
  // Has a sender that is no member say Hello again.
  void send_away(const RouterSocket::Incoming& incoming);
  // Makes the key for one process that this process used invalid; or all such
  // keys that were used.
  void retire_key_of(std::uint64_t process);
  void retire_keys();

 private:
  static constexpr int kRefusalsTold = 20;  // number told in a minute

  void check_name(const Member& newcomer) const;
  void check_same(const Member& old, const Member& newcomer);
  Member& take_in(const Member& newcomer);
  void prepare_exchange();
  void announce(const Member& member);
  void refuse(Member& refused, const Error& error);
  void tell_refusal(const std::string& why);
  void claim_key(const std::string& key, std::uint64_t process);
  void retire_key(const std::string& key);
  std::string instructions_of(const Member& member) const;
  void note_instructions(const Member& newcomer);
  void free_name(const Member& newcomer);

  RunContext& context_;
  MemberWatch& watch_;
  const Hooks& hooks_;
  // Keys for one process, and Hello.process of the process that used each.
  std::map<std::string, std::uint64_t> once_;
  LineLimit refusals_{kRefusalsTold};
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_MEMBERS_ADMISSION_H_
