export { ensureAdministrator, type FirstRun, readablePassword } from './first-run.ts'
export { HashQueue } from './hash-queue.ts'
export { matchesImported, parseImportedHash } from './imported-hashes.ts'
export { InitialPasswordFile } from './initial-password.ts'
export { PasswordAttempts } from './password-attempts.ts'
export { type AccountPasswordAttempt, PasswordChecks } from './password-checks.ts'
export {
  type FailedAuthentication,
  PasswordGuard,
  type PasswordGuardOptions,
  type PasswordOutcome,
} from './password-guard.ts'
export { type PasswordCost, Passwords } from './passwords.ts'
