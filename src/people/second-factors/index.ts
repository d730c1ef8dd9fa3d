export { secondFactorRows } from './second-factor-store.ts'
export {
  removeSecondFactors,
  resealTotpSecrets,
  type SecondFactorAttempt,
  type SecondFactorChange,
  type SecondFactorOutcome,
  SecondFactors,
} from './second-factors.ts'
