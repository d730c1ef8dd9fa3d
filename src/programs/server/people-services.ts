import { Avatars, Directory, Onboarding } from '../../people/accounts/index.ts'
import { type Audit, accountAction } from '../../people/audit/index.ts'
import {
  AccountTokens,
  ApiTokens,
  Confirmations,
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
  Passwords,
} from '../../people/passwords/index.ts'
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

export function createPeople(parts: ServiceParts) {
  const { db, now, config, secret, logger } = parts
  const accounts = createAccountServices(parts)
  const tokens = createTokens(parts)
  const mailLogger = logger.child({ module: 'mail' })
  const outbox = new Outbox({
    db,
    settings: config.mail,
    now,
    onError: (error) => mailLogger.error({ err: error }, 'a mail could not be sent; it is tried again'),
  })
  const { audit } = parts.core
  const services = { ...accounts, ...tokens, outbox, audit }
  const { rateLimit } = config
  return {
    ...services,
    ...createSignIns(parts, services),
    accountTokens: new AccountTokens({ db, accounts: accounts.accounts, outbox, secret, now, rateLimit }),
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
  const accounts = createAccounts({ db, now, passwords, shortestPassword, directory, core, initialPassword })
  const passwordChecks = new PasswordChecks({ accounts, passwords, ...guarding })
  const images = new Images()
  return {
    accounts,
    avatars: new Avatars(db, directory, images, now),
    confirmations: new Confirmations({ db, checks: passwordChecks, now }),
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

function createTokens({ db, config, secret, now }: ServiceParts) {
  const idleSeconds = config.sessionIdleDays * 86_400
  const apiTokens = new ApiTokens({ db, secret, now, idleSeconds, dependents: apiTokenDependents })
  const scopedTokens = new ScopedTokens(db, secret, now, libraryRelations)
  return {
    apiTokens,
    scopedTokens,
    syncTokens: new SyncTokens(db, now),
    signInLinks: new SignInLinks({ db, apiTokens, now }),
    deviceAuthorizations: new DeviceAuthorizations({
      db,
      apiTokens,
      scopedTokens,
      secret,
      now,
      rateLimit: config.rateLimit,
    }),
    origins: new CredentialOrigins(db, scopedTokens),
  }
}

function createSignIns(
  { db, secret, now }: ServiceParts,
  services: ReturnType<typeof createAccountServices> & ReturnType<typeof createTokens> & { audit: Audit },
) {
  const { accounts, apiTokens, audit, initialPassword, passwordChecks, passwords, scopedTokens } = services
  const login = new Login({
    db,
    checks: passwordChecks,
    apiTokens,
    passwords,
    secret,
    now,
    onSignIn: ({ email }) => initialPassword.deleteFor(email),
  })
  const webdavClients = new WebdavClients({
    db,
    now,
    onSignIn: (tx, { email }, { address, credential }) => {
      const by = { actor: email, address }
      return audit.record(tx, by, accountAction('login', email, { via: 'webdav', credential }))
    },
  })
  const webdavSignIn = new WebdavSignIn({
    db,
    accounts,
    scopedTokens,
    passwordChecks,
    clients: webdavClients,
    onRefused: async (name, account, { address, reason }) => {
      const actor = login.actorFor(name, account)
      const action = accountAction('login-failed', actor, { reason, via: 'webdav' })
      await audit.append({ actor, address }, action)
    },
  })
  return { login, webdavClients, webdavSignIn, webdavSecrets: new WebdavSecrets({ db, passwords }) }
}
