export { useLive } from './live.ts'
