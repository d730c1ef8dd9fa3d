export { useUnlockError } from './unlock-error.ts'
export { UnlockGate } from './unlock-gate.tsx'
