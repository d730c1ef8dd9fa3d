import type { ActivityService } from '../../../derived/activity/index.ts'
import type { Account, Accounts, Avatars, Groups, Onboarding } from '../../../people/accounts/index.ts'
import type { Audit } from '../../../people/audit/index.ts'
import type {
  AccountTokens,
  ApiTokens,
  Confirmations,
  DeviceAuthorizations,
  Login,
  ScopedTokens,
  SignInLinks,
  WebdavClients,
  WebdavSecrets,
} from '../../../people/credentials/index.ts'
import type { Outbox } from '../../../people/mail/index.ts'
import type { PasswordChecks } from '../../../people/passwords/index.ts'
import type { SecondFactors } from '../../../people/second-factors/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for accounts and people use. */
export interface AccountServices {
  readonly access: Access
  readonly accounts: Accounts
  /** For the calls of tools: every other operation writes its entry itself. */
  readonly audit: Pick<Audit, 'append'>
  readonly avatars: Avatars
  readonly groups: Groups
  readonly onboarding: Onboarding
  readonly quotas: Quotas
}

/** What the calls for sign-in: passwords, codes, links, and passwords that were forgotten use. */
export interface SignInServices {
  readonly accountTokens: AccountTokens
  /** Who may make credentials that outlive their session. */
  readonly confirmations: Confirmations
  readonly deviceAuthorizations: DeviceAuthorizations
  readonly login: Login
  /** Unix seconds. */
  readonly now: () => number
  readonly outbox: Outbox
  readonly signInLinks: SignInLinks
}

/** What the calls for the credentials of an account use. */
export interface CredentialServices {
  readonly access: Access
  readonly accountTokens: AccountTokens
  readonly accounts: Accounts
  readonly activity: ActivityService
  readonly apiTokens: ApiTokens
  /** Who may make credentials that outlive their session. */
  readonly confirmations: Confirmations
  /** Unix seconds. */
  readonly now: () => number
  readonly outbox: Outbox
  readonly passwordChecks: PasswordChecks
  readonly scopedTokens: ScopedTokens
  readonly secondFactors: SecondFactors
  readonly webdavClients: WebdavClients
  readonly webdavSecrets: WebdavSecrets
}

/** Declares a call for accounts and people. */
export const accountRoute = routesFor<Account, AccountServices>()

/** Declares a call for sign-in: passwords, codes, links, and passwords that were forgotten. */
export const signInRoute = routesFor<Account, SignInServices>()

/** Declares a call for the credentials of an account. */
export const credentialRoute = routesFor<Account, CredentialServices>()
