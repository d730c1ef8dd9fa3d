export {
  type Account,
  contactEmailOf,
  displayName,
  emailAsShown,
  isAdmin,
  isContactVerified,
  mailAddressOf,
  mailNoticesChoices,
  type Person,
  parseEmail,
  personOf,
  type Role,
  unknownPerson,
} from './account.ts'
export { type AccountRule, AccountRuleError } from './account-rules.ts'
export {
  type AccountOrder,
  findDefaultLibraryKey,
  findMailChoices,
  lockAccount,
  type MailChoices,
  setDefaultLibraryKey,
} from './account-store.ts'
export { AccountTokens } from './account-tokens.ts'
export { type AccountChangeHook, type AccountChanges, Accounts } from './accounts.ts'
export { forgetNonce, type LinkedDevice } from './api-token-store.ts'
export { ApiTokens, type Authentication } from './api-tokens.ts'
export { Avatars } from './avatars.ts'
export { Confirmations } from './confirmations.ts'
export {
  type CredentialOrigin,
  credentialOriginOf,
  presentedBy,
  presentedCredential,
} from './credential-origin.ts'
export { CredentialOrigins } from './credential-origins.ts'
export type { AccountDependent, ApiTokenDependent, GroupDependent } from './dependents.ts'
export { isDesktop, isPlatform, type Platform, parseDevice, platforms } from './device.ts'
export { DeviceAuthorizations } from './device-authorizations.ts'
export { Directory } from './directory.ts'
export { ensureAdministrator, type FirstRun, readablePassword } from './first-run.ts'
export { countFutureSignIns, repairFutureSignIns } from './future-times-store.ts'
export type { Group, Membership } from './group.ts'
export type { GroupEvent } from './group-events.ts'
export { findGroups, findMembership, groupsOf, type Member, memberKeys } from './group-store.ts'
export { Groups } from './groups.ts'
export { HashQueue } from './hash-queue.ts'
export {
  copyPeople,
  importAccount,
  importApiToken,
  importGroup,
  importSyncToken,
} from './import-rows.ts'
export { matchesImported, parseImportedHash } from './imported-hashes.ts'
export { InitialPasswordFile } from './initial-password.ts'
export { libraryCredentials } from './library-credentials.ts'
export { Login, type LoginOutcome } from './login.ts'
export { Onboarding, onboardingItems } from './onboarding.ts'
export { PasswordAttempts } from './password-attempts.ts'
export { PasswordChecks } from './password-checks.ts'
export {
  type FailedAuthentication,
  PasswordGuard,
  type PasswordGuardOptions,
  type PasswordOutcome,
} from './password-guard.ts'
export { type PasswordCost, Passwords } from './passwords.ts'
export { accountRelation, type LibraryRelations, memberRelation } from './relations.ts'
export { canAddLibrary, roleAllows } from './roles.ts'
export { type Scope, type ScopeAccess, scopeAdmits, scopeReaches } from './scope.ts'
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
