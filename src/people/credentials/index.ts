export { accountSecrets } from './account-secrets.ts'
export { AccountTokens } from './account-tokens.ts'
export { forgetNonce, type LinkedDevice } from './api-token-store.ts'
export { type ApiTokenDependent, ApiTokens, type Authentication } from './api-tokens.ts'
export { Confirmations } from './confirmations.ts'
export {
  type CredentialOrigin,
  credentialOriginOf,
  presentedBy,
  presenting,
} from './credential-origin.ts'
export { CredentialOrigins } from './credential-origins.ts'
export { isDesktop, isPlatform, type Platform, parseDevice, platforms } from './device.ts'
export { DeviceAuthorizations } from './device-authorizations.ts'
export { ensureAdministrator, type FirstRun, readablePassword } from './first-run.ts'
export { countFutureSignIns, repairFutureSignIns } from './future-times-store.ts'
export { HashQueue } from './hash-queue.ts'
export { importApiToken, importSyncToken } from './import-rows.ts'
export { matchesImported, parseImportedHash } from './imported-hashes.ts'
export { InitialPasswordFile } from './initial-password.ts'
export { libraryCredentials } from './library-credentials.ts'
export { Login, type LoginOutcome } from './login.ts'
export { PasswordAttempts } from './password-attempts.ts'
export { PasswordChecks } from './password-checks.ts'
export {
  type FailedAuthentication,
  PasswordGuard,
  type PasswordGuardOptions,
  type PasswordOutcome,
} from './password-guard.ts'
export { type PasswordCost, Passwords } from './passwords.ts'
export type { PersonalToken } from './scoped-token-store.ts'
export { type LibraryToken, resealLibraryTokens, ScopedTokens } from './scoped-tokens.ts'
export { deriveKeys, Sealing } from './sealing.ts'
export {
  loadSecret,
  removePreviousKeys,
  rotateSecret,
  SecretError,
  type ServerSecret,
  secretId,
  secretText,
} from './secret.ts'
export { SignInLinks } from './sign-in-links.ts'
export type { SyncGrant } from './sync-token-store.ts'
export { SyncTokens } from './sync-tokens.ts'
export type { WebdavClient } from './webdav-client-store.ts'
export { WebdavClients } from './webdav-clients.ts'
export { type SecretProblem, WebdavSecrets } from './webdav-secrets.ts'
export { WebdavSignIn } from './webdav-sign-in.ts'
