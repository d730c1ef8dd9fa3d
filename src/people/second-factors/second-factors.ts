import { hash as digest, randomBytes, randomInt } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { Sealing, type ServerSecret } from '../../platform/secret/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
import { type Audit, type AuditActor, accountAction } from '../audit/index.ts'
import type { PasswordGuard } from '../passwords/index.ts'
import {
  countRecoveryCodes,
  deleteExpiredTrustedDevices,
  deleteSecondFactors,
  deleteTrustedDevice,
  deleteTrustedDevices,
  findTotp,
  insertTrustedDevice,
  listTotp,
  listTrustedDevices,
  putTotp,
  replaceRecoveryCodes,
  setSealedTotp,
  type TrustedDevice,
  useRecoveryCode,
  useTotpStep,
  useTrustedDevice,
} from './second-factor-store.ts'
import { newTotpSecret, totpStep, totpUri } from './totp.ts'

const DAY = 86_400
const TRUSTED_SECONDS = 90 * DAY
const MOST_TRUSTED = 50
const OFFER_SECONDS = 3600
const RECOVERY_CODES = 10

/** Who needs a second factor, and how long after the first sign-in under that rule. */
interface SecondFactorPolicy {
  readonly requiredOf: 'off' | 'administrators' | 'everyone'
  readonly graceDays: number
}

/** An authenticator app that is being set up. */
interface TotpOffer {
  /** Given back with the first code. It has the secret in it, encrypted, so that nothing is stored before. */
  readonly setup: string
  /** In Base32. */
  readonly secret: string
  readonly uri: string
}

/** What a sign-in has besides name and password. */
export interface SecondFactorAttempt {
  /** A code of the app, or a recovery code. */
  readonly code?: string | undefined
  /** The token of a trusted device. */
  readonly trust?: string | undefined
  /** The setup of an offer, if this sign-in sets up the app. */
  readonly setup?: string | undefined
  readonly address: string
  /** Without control characters, at most 255. */
  readonly userAgent?: string | undefined
  /** The name of the server in authenticator apps. */
  readonly site?: string | undefined
}

type Throttled = { readonly refused: 'throttled'; readonly retryAfterSeconds: number }

/** Whether an account may sign in. */
export type SecondFactorOutcome =
  | {
      /** Undefined for an account without a second factor. */
      readonly factor: 'totp' | 'recovery-code' | 'trusted-device' | undefined
      /** Of an app that was set up at this sign-in. */
      readonly recoveryCodes?: readonly string[]
      /** When the account needs a second factor, in Unix seconds. */
      readonly dueAt?: number | undefined
    }
  | { readonly refused: 'code-needed'; readonly wrong: boolean }
  | { readonly refused: 'setup-needed'; readonly wrong: boolean; readonly offer: TotpOffer }
  | Throttled

/** `second-factor` was set up, `…-reset` was removed by somebody else. */
export type SecondFactorChange =
  | 'second-factor'
  | 'second-factor-removed'
  | 'second-factor-reset'
  | 'recovery-codes'

/** Notifies an account, in the transaction of the change: it may not have been the owner who made it. */
type SecondFactorNotice = (
  tx: Transaction,
  account: Pick<Account, 'key'>,
  change: { readonly kind: SecondFactorChange; readonly address: string },
) => Promise<void>

interface SecondFactorsOptions {
  readonly db: Database
  readonly audit: Audit
  readonly secret: ServerSecret
  readonly guard: PasswordGuard
  readonly policy: SecondFactorPolicy
  readonly onChanged: SecondFactorNotice
  /** Ends what signed in with the account password alone, in the transaction that sets up a factor. */
  readonly endPasswordClients: (tx: Transaction, accountKey: number) => Promise<void>
  /** Unix seconds. */
  readonly now: () => number
}

/**
 * The second factors of accounts: authenticator apps (RFC 6238), recovery codes, and devices that are trusted after a code. They are asked for at sign-in
 * only, and whether an account has one is in its row, so that accounts without one cost nothing.
 */
export class SecondFactors {
  readonly #options: SecondFactorsOptions
  readonly #secrets: Sealing
  readonly #setups: Sealing

  constructor(options: SecondFactorsOptions) {
    this.#options = options
    this.#secrets = new Sealing(options.secret, TOTP_PURPOSE)
    this.#setups = new Sealing(options.secret, 'setups of authenticator apps')
  }

  /** Whether the policy of the server demands one from this account. */
  isRequiredOf({ role }: Pick<Account, 'role'>): boolean {
    const { requiredOf } = this.#options.policy
    return requiredOf === 'everyone' || (requiredOf === 'administrators' && role === 'admin')
  }

  /**
   * Whether the password of the account is enough where no code can be given, such as WebDAV. Not if it has a second factor, or should have one by now:
   * older protocols must not be a way around it. Changes nothing, because the password was not checked yet.
   */
  isPasswordEnough(account: Account): boolean {
    if (account.hasSecondFactor) return false
    const { now, policy } = this.#options
    if (!this.isRequiredOf(account)) return true
    return account.secondFactorDueAt === undefined ? policy.graceDays > 0 : account.secondFactorDueAt > now()
  }

  /** Asks an account whose password was right for its second factor. */
  async checkAtSignIn(account: Account, attempt: SecondFactorAttempt): Promise<SecondFactorOutcome> {
    const { now } = this.#options
    if (account.hasSecondFactor) return this.#checkFactor(account, attempt)
    const dueAt = await this.beginGrace(account)
    if (dueAt === undefined || dueAt > now()) return { factor: undefined, dueAt }
    const { code = '', setup, address, site = '' } = attempt
    const by = { actor: account.email, address }
    const recoveryCodes = setup && (await this.#addApp(account, { setup, code }, by, { onlyFirst: true }))
    if (recoveryCodes) return { factor: 'totp', recoveryCodes }
    await this.#noteAsked(account, by)
    return { refused: 'setup-needed', wrong: setup !== undefined, offer: await this.offer(account, site) }
  }

  /** Called with a right password: the time without a second factor begins with the first one. When it ends; undefined for never. */
  async beginGrace(account: Account): Promise<number | undefined> {
    const { db, now, policy } = this.#options
    if (!this.isRequiredOf(account)) return undefined
    if (account.secondFactorDueAt !== undefined) return account.secondFactorDueAt
    const dueAt = now() + policy.graceDays * DAY
    await db.write((tx) => accountRows.setSecondFactorDue(tx, account.key, dueAt))
    return dueAt
  }

  /** Checks a code of the app that confirms an action. Throws too-many-tries. */
  async confirms(account: Account, code: string, address: string): Promise<boolean> {
    const outcome = await this.#checkCode(account, code, { address, isRecovery: false })
    if (typeof outcome === 'object') fail({ code: 'too-many-tries', seconds: outcome.retryAfterSeconds })
    return outcome !== 'wrong'
  }

  /** A token with which the device that signs in now needs no code for 90 days. In the transaction of the sign-in. */
  async trustIn(
    tx: Transaction,
    account: Account,
    { address, userAgent = '' }: { readonly address: string; readonly userAgent?: string | undefined },
  ): Promise<string> {
    const token = randomBytes(20).toString('hex')
    const createdAt = this.#options.now()
    const expiresAt = createdAt + TRUSTED_SECONDS
    const device = { hash: hashOf(token), address, userAgent }
    await insertTrustedDevice(tx, account, { ...device, createdAt, expiresAt }, MOST_TRUSTED)
    return token
  }

  /** What an account has. */
  async describe(account: Account) {
    const { db, now } = this.#options
    const [totp, recoveryCodes, trustedDevices] = await Promise.all([
      findTotp(db, account.key),
      countRecoveryCodes(db, account.key),
      listTrustedDevices(db, account, now()),
    ])
    const { secondFactorDueAt: dueAt } = account
    const isRequired = this.isRequiredOf(account)
    return { totp, recoveryCodes, trustedDevices, isRequired, dueAt: isRequired ? dueAt : undefined }
  }

  /** A new secret for an authenticator app. Nothing is stored. `site` is the name of the server in the app. */
  async offer(account: Account, site: string): Promise<TotpOffer> {
    const secret = await newTotpSecret()
    const until = this.#options.now() + OFFER_SECONDS
    const setup = this.#setups.seal(`${until} ${secret}`, boundTo(account)).toString('base64url')
    return { setup, secret, uri: await totpUri(secret, site, account.email) }
  }

  /** Sets up the app of an offer, or replaces the earlier one. Returns new recovery codes; undefined for a wrong code. */
  addApp(
    account: Account,
    sent: { readonly setup: string; readonly code: string },
    by: AuditActor,
  ): Promise<readonly string[] | undefined> {
    return this.#addApp(account, sent, by)
  }

  /** New recovery codes end the earlier ones. Undefined if the account has no second factor. */
  async makeRecoveryCodes(account: Account, by: AuditActor): Promise<readonly string[] | undefined> {
    const { audit, db } = this.#options
    if (!account.hasSecondFactor) return undefined
    return db.write(async (tx) => {
      const codes = await replaceCodes(tx, account.key)
      await audit.record(tx, by, accountAction('recovery-codes-made', account.email))
      await this.#notify(tx, account, 'recovery-codes', by)
      return codes
    })
  }

  /** Removes all factors. Trusted devices end with them. False if there were none. */
  remove(account: Account, by: AuditActor): Promise<boolean> {
    return removeSecondFactors(this.#options, account, by)
  }

  /** False if the account has no such device. */
  async endTrust(account: Account, key: TrustedDevice['key'], by: AuditActor): Promise<boolean> {
    const { audit, db } = this.#options
    return db.write(async (tx) => {
      if (!(await deleteTrustedDevice(tx, account.key, key))) return false
      await audit.record(tx, by, accountAction('trusted-device-removed', account.email))
      return true
    })
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteExpiredTrustedDevices(tx, now()), { durable: false })
  }

  async #checkFactor(account: Account, attempt: SecondFactorAttempt): Promise<SecondFactorOutcome> {
    const { db, now } = this.#options
    const { code = '', trust, address, userAgent = '' } = attempt
    if (trust !== undefined) {
      const device = { hash: hashOf(trust), address, userAgent }
      const isTrusted = await db.write((tx) => useTrustedDevice(tx, account, device, now()))
      if (isTrusted) return { factor: 'trusted-device' }
    }
    if (code === '') {
      await this.#noteAsked(account, { actor: account.email, address })
      return { refused: 'code-needed', wrong: false }
    }
    const outcome = await this.#checkCode(account, code, { address, isRecovery: true })
    if (typeof outcome === 'object') return outcome
    return outcome === 'wrong' ? { refused: 'code-needed', wrong: true } : { factor: outcome }
  }

  /** A right code is used up. Ten wrong ones in five minutes are the limit of an account, from wherever they come. */
  async #checkCode(
    account: Account,
    code: string,
    { address, isRecovery }: { readonly address: string; readonly isRecovery: boolean },
  ): Promise<'totp' | 'recovery-code' | 'wrong' | Throttled> {
    const typed = code.replace(/[\s-]/g, '').toLowerCase()
    const factor = /^\d{6}$/.test(typed) ? 'totp' : 'recovery-code'
    const attempt = { kind: 'second-factor', subject: account.email, source: ANYWHERE, address } as const
    const outcome = await this.#options.guard.try(attempt, async () => {
      const isRight =
        factor === 'totp'
          ? this.#useAppCode(account, typed)
          : isRecovery && this.#useRecoveryCode(account, typed)
      return { isRight: await isRight, user: account.key }
    })
    if (typeof outcome === 'object') return { refused: 'throttled', ...outcome }
    return outcome === 'right' ? factor : 'wrong'
  }

  /** Whoever gets this far knows the password. The audit log counts these entries, so that they cannot fill it. */
  #noteAsked(account: Account, by: AuditActor): Promise<void> {
    return this.#options.audit.append(by, accountAction('login-code-asked', account.email))
  }

  async #useAppCode(account: Account, code: string): Promise<boolean> {
    const { db, now } = this.#options
    const totp = await findTotp(db, account.key)
    const secret = totp && this.#secrets.open(totp.sealed, String(account.key))
    const step = secret === undefined ? undefined : await totpStep(secret, code, now())
    if (step === undefined) return false
    return db.write((tx) => useTotpStep(tx, account.key, step, now()))
  }

  #useRecoveryCode({ key }: Account, typed: string): Promise<boolean> {
    return this.#options.db.write((tx) => useRecoveryCode(tx, key, recoveryHash(key, typed)))
  }

  async #addApp(
    account: Account,
    { setup, code }: { readonly setup: string; readonly code: string },
    by: AuditActor,
    { onlyFirst = false } = {},
  ): Promise<readonly string[] | undefined> {
    const { audit, db, endPasswordClients, now } = this.#options
    const secret = this.#secretIn(account, setup)
    const step = secret === undefined ? undefined : await totpStep(secret, code.replace(/\s/g, ''), now())
    if (secret === undefined || step === undefined) return undefined
    const sealed = this.#secrets.seal(secret, String(account.key))
    return db.write(async (tx) => {
      const isFirst = await accountRows.setSecondFactor(tx, account.key, true)
      // Of two that set up the first one at the same time, one gets in.
      if (onlyFirst && !isFirst) return undefined
      await putTotp(tx, account.key, { sealed, step, now: now() })
      const codes = await replaceCodes(tx, account.key)
      await deleteTrustedDevices(tx, account.key)
      await endPasswordClients(tx, account.key)
      await audit.record(tx, by, accountAction('second-factor-added', account.email, { kind: 'totp' }))
      await this.#notify(tx, account, 'second-factor', by)
      return codes
    })
  }

  /** The secret of an offer that was made to this account and has not expired. */
  #secretIn(account: Account, setup: string): string | undefined {
    const text = this.#setups.open(Buffer.from(setup, 'base64url'), boundTo(account))
    const [until, secret] = text?.split(' ') ?? []
    return Number(until) > this.#options.now() ? secret : undefined
  }

  async #notify(tx: Transaction, account: Account, kind: SecondFactorChange, { address }: AuditActor) {
    await this.#options.onChanged(tx, account, { kind, address })
  }
}

/** As SecondFactors.remove, also for commands, which tell nobody. */
export async function removeSecondFactors(
  {
    db,
    audit,
    onChanged,
  }: Pick<SecondFactorsOptions, 'db' | 'audit'> & { readonly onChanged?: SecondFactorNotice },
  account: Account,
  by: AuditActor,
): Promise<boolean> {
  const kind = by.actor === account.email ? 'second-factor-removed' : 'second-factor-reset'
  return db.write(async (tx) => {
    await deleteSecondFactors(tx, account.key)
    if (!(await accountRows.setSecondFactor(tx, account.key, false))) return false
    await audit.record(tx, by, accountAction('second-factor-removed', account.email))
    await onChanged?.(tx, account, { kind, address: by.address })
    return true
  })
}

const TOTP_PURPOSE = 'secrets of authenticator apps'

/** Codes are counted by the account alone: six digits are few, and a guesser has many networks. */
const ANYWHERE = 'anywhere'

/** An offer ends when the account signs out everywhere. */
function boundTo({ key, epoch }: Pick<Account, 'key' | 'epoch'>): string {
  return `${key} ${epoch}`
}

/** The form in which tokens are stored. */
function hashOf(token: string): Buffer {
  return digest('sha256', token, 'buffer')
}

// Without letters and digits that look alike.
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** 79 bits as `xxxx-xxxx-xxxx-xxxx`, so that the hash of a stolen database reveals none. */
function newRecoveryCode(): string {
  const group = () => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}

function recoveryHash(accountKey: number, code: string): Buffer {
  return digest('sha256', `recovery code ${accountKey} ${code.replaceAll('-', '')}`, 'buffer')
}

/** Shown once: only their hashes are stored. */
async function replaceCodes(tx: Transaction, accountKey: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
  const hashes = codes.map((code) => recoveryHash(accountKey, code))
  await replaceRecoveryCodes(tx, accountKey, hashes)
  return codes
}

/** Encrypts the secrets of all authenticator apps under the current key of the secret. Returns how many. */
export async function resealTotpSecrets(db: Database, secret: ServerSecret): Promise<number> {
  const sealing = new Sealing(secret, TOTP_PURPOSE)
  return db.write(async (tx) => {
    let count = 0
    for (const { accountKey, sealed } of await listTotp(tx)) {
      const text = sealing.open(sealed, String(accountKey))
      if (text === undefined) continue
      await setSealedTotp(tx, accountKey, sealing.seal(text, String(accountKey)))
      count += 1
    }
    return count
  })
}
