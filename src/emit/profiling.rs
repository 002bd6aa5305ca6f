//! The profiling records of a core.

use super::writer::CppWriter;

pub(super) fn write(out: &mut CppWriter) {
    out.lines(
        "\
// This core's profiling area: word 0 magic, word 1 next free record, word 2 end. Off after the first failed check.
struct SkProfile {
    __gm__ volatile uint64_t *area;
    uint64_t next;
    uint64_t end;
    bool on;
};

SK_HELPER void sk_profile_check(SkProfile &profile) {
    profile.on = profile.area[0] == 0xbdca8756ULL && profile.next < profile.end;
}

SK_HELPER void sk_profile_write(SkProfile &profile, uint64_t header) {
    if (!profile.on) {
        return;
    }
    __gm__ volatile uint64_t *record = (__gm__ volatile uint64_t *)profile.next;
    record[0] = header;
    record[1] = (uint64_t)AscendC::GetSystemCycle();
    dcci(record, 0, 2);
    if ((profile.next & 63) == 56) {
        dcci(record + 1, 0, 2); // the record lies across two cache lines
    }
    profile.next += 16;
    profile.area[1] = profile.next;
    dcci(profile.area, 0, 2);
    sk_profile_check(profile);
}

SK_HELPER void sk_profile_start(SkProfile &profile, GM_ADDR buffer, uint64_t task_id) {
    if (buffer == nullptr) {
        return;
    }
    uint64_t core = (uint64_t)get_block_idx() + 50;
    if ASCEND_IS_AIV {
        core = (uint64_t)(get_block_idx() * get_subblockdim() + get_subblockid());
    }
    const uint64_t size = *(__gm__ volatile uint32_t *)(buffer + 12);
    profile.area = (__gm__ volatile uint64_t *)(buffer + 64 + core * size);
    profile.next = profile.area[1];
    profile.end = profile.area[2];
    sk_profile_check(profile);
    sk_profile_write(profile, (task_id & 0xffffffffULL) << 32 | core << 8 | 0xff);
}

// type: 0 super kernel, 4 notify, 8 op, 0xC wait.
SK_HELPER void sk_record(SkProfile &profile, uint32_t index, uint32_t type, uint32_t end) {
    sk_profile_write(profile, (uint64_t)index << 32 | (uint64_t)end << 12 | (uint64_t)type << 8);
}
",
    );
    out.blank();
}
