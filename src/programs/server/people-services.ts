import { Avatars, Directory, Onboarding } from '../../people/accounts/index.ts'
import {
  AccountTokens,
  ApiTokens,
  Confirmations,
  type CredentialNotice,
  CredentialOrigins,
  DeviceAuthorizations,
  Login,
  ScopedTokens,
  SignInLinks,
  SyncTokens,
  WebdavClients,
  WebdavSecrets,
  WebdavSignIn,
} from '../../people/credentials/index.ts'
import { Outbox } from '../../people/mail/index.ts'
import {
  type FailedAuthentication,
  HashQueue,
  PasswordAttempts,
  PasswordChecks,
  PasswordGuard,
  Passwords,
} from '../../people/passwords/index.ts'
import { SecondFactors } from '../../people/second-factors/index.ts'
import { Images } from '../../platform/imaging/index.ts'
import {
  apiTokenDependents,
  createAccounts,
  createInitialPassword,
  libraryRelations,
} from '../assembly/index.ts'
import type { ServiceParts } from './service-parts.ts'

/** Concurrent hashes of account passwords, of libuv's four threads. Library passwords use one more. */
const HASHES = 2

/** Accounts, how they sign in, and what they are told. */
export type PeopleServices = ReturnType<typeof createPeople>

/** `onAdded` notifies accounts of new credentials. */
export function createPeople(parts: ServiceParts, onAdded: CredentialNotice) {
  const { db, now, config, secret, logger } = parts
  const { audit } = parts.core
  const accounts = createAccountServices(parts)
  const tokens = createTokens(parts, onAdded)
  const mailLogger = logger.child({ module: 'mail' })
  const outbox = new Outbox({
    db,
    settings: config.mail,
    now,
    onError: (error) => mailLogger.error({ err: error }, 'a mail could not be sent; it is tried again'),
  })
  const services = { ...accounts, ...tokens, outbox, audit }
  const { rateLimit } = config
  return {
    ...services,
    ...createSignIns(parts, services, onAdded),
    accountTokens: new AccountTokens({
      db,
      accounts: accounts.accounts,
      audit,
      outbox,
      secret,
      now,
      rateLimit,
    }),
  }
}

function createAccountServices({ db, core, config, secret, now, logger, passwordCost }: ServiceParts) {
  const securityLogger = logger.child({ room: 'security' })
  // Operators match this format (docs/fail2ban.md), so its module keeps the former name `room`. No field contains client input.
  const onFailure = ({ address, kind, reason, user }: FailedAuthentication) =>
    securityLogger.warn({ address, kind, reason, user }, 'authentication failed')
  const passwordAttempts = new PasswordAttempts(db, secret, now)
  const guarding = { now, rateLimit: config.rateLimit, attempts: passwordAttempts, onFailure }
  const initialPassword = createInitialPassword(config, (error) =>
    securityLogger.error({ err: error }, 'the file with the first password could not be deleted'),
  )
  const passwords = new Passwords({
    ...(passwordCost && { cost: passwordCost }),
    queue: new HashQueue({ slots: HASHES, bounded: config.rateLimit }),
  })
  const directory = new Directory(db, now)
  const shortestPassword = config.passwordLength
  const { audit } = core
  const guarded = { passwords, shortestPassword, directory, core, initialPassword }
  const accounts = createAccounts({ db, audit, now, ...guarded })
  const passwordChecks = new PasswordChecks({ accounts, passwords, ...guarding })
  const images = new Images()
  return {
    accounts,
    avatars: new Avatars(db, directory, images, now),
    directory,
    guarding,
    images,
    initialPassword,
    onboarding: new Onboarding(db),
    passwordAttempts,
    passwordChecks,
    passwords,
  }
}

function createTokens({ core, db, config, secret, now }: ServiceParts, onAdded: CredentialNotice) {
  const { audit } = core
  const idleSeconds = config.sessionIdleDays * 86_400
  const apiTokens = new ApiTokens({ db, audit, secret, now, idleSeconds, dependents: apiTokenDependents })
  const scopedTokens = new ScopedTokens({ db, audit, secret, now, relations: libraryRelations, onAdded })
  return {
    apiTokens,
    scopedTokens,
    syncTokens: new SyncTokens(db, now),
    signInLinks: new SignInLinks({ db, audit, apiTokens, now }),
    deviceAuthorizations: new DeviceAuthorizations({
      db,
      apiTokens,
      scopedTokens,
      secret,
      now,
      rateLimit: config.rateLimit,
      audit,
      onAdded,
    }),
    origins: new CredentialOrigins(db, scopedTokens),
  }
}

function createSignIns(
  { config, core, db, secret, now }: ServiceParts,
  services: ReturnType<typeof createAccountServices> & ReturnType<typeof createTokens>,
  onAdded: CredentialNotice,
) {
  const { audit } = core
  const { accounts, apiTokens, guarding, initialPassword, passwordChecks, passwords, scopedTokens } = services
  const webdavClients = new WebdavClients({ db, audit, now })
  const secondFactors = new SecondFactors({
    db,
    audit,
    secret,
    now,
    guard: new PasswordGuard(guarding),
    policy: config.secondFactor,
    onChanged: onAdded,
    endPasswordClients: (tx, accountKey) => webdavClients.endOfAccountPassword(tx, accountKey),
  })
  const login = new Login({
    db,
    audit,
    checks: passwordChecks,
    apiTokens,
    passwords,
    secondFactors,
    secret,
    now,
    onSignIn: ({ email }) => initialPassword.deleteFor(email),
  })
  const webdavSignIn = new WebdavSignIn({
    db,
    accounts,
    scopedTokens,
    passwordChecks,
    secondFactors,
    clients: webdavClients,
    login,
    audit,
  })
  const webdavSecrets = new WebdavSecrets({ db, audit, passwords, onAdded })
  const confirmations = new Confirmations({ db, checks: passwordChecks, secondFactors, now })
  return { confirmations, login, secondFactors, webdavClients, webdavSignIn, webdavSecrets }
}
