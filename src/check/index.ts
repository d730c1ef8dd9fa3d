export { readIntegrityState } from './integrity-state.ts'
export { registerIntegrityMetrics } from './metrics.ts'
