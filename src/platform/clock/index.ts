export { confirmTime, findSeenTime } from './clock-store.ts'
export { ClockJumped, MAX_JUMP_SECONDS, registerClockMetrics, TrustedClock } from './trusted-clock.ts'
