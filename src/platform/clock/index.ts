export { confirmTime, findSeenTime } from './clock-store.ts'
export { registerClockMetrics } from './metrics.ts'
export { ClockJumped, MAX_JUMP_SECONDS, TrustedClock } from './trusted-clock.ts'
