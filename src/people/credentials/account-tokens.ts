import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { Language } from '../../base/texts/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'
import {
  type Account,
  AccountRuleError,
  type Accounts,
  displayName,
  mailAddressOf,
} from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import { type Mail, type MailContent, mailTexts, nameInMail, type Outbox } from '../mail/index.ts'
import { PasswordAttempts } from '../passwords/index.ts'
import {
  consumeAccountToken,
  deleteExpiredAccountTokens,
  findAccountToken,
  replaceAccountToken,
  type TokenPurpose,
} from './account-token-store.ts'

const LIFE_SECONDS: Readonly<Record<TokenPurpose, number>> = {
  invitation: 7 * 86_400,
  'password-reset': 3600,
  contact: 86_400,
}
/** Mails of one purpose to one account in 24 hours. */
const MAX_PER_DAY = 5

interface AccountTokensOptions {
  readonly db: Database
  readonly accounts: Accounts
  readonly audit: Audit
  readonly outbox: Outbox
  readonly secret: ServerSecret
  /** Unix seconds. */
  readonly now: () => number
  /** False disables the throttle, for tests and trusted networks. */
  readonly rateLimit: boolean
}

/** What is stored with a mail that contains a token. */
interface TokenMailDetail {
  readonly by?: string
  readonly language?: Language
}

/**
 * One-time tokens in mailed links: invitations, password resets, verification of contact addresses. A token is invalidated by its first use and by
 * a change of the password. It is an HMAC of the mail id under the server secret, and only its hash is stored: neither the database nor the outbox
 * reveals it.
 */
export class AccountTokens {
  readonly #options: AccountTokensOptions
  readonly #keys: readonly Buffer[]
  readonly #throttle: PasswordAttempts | undefined

  constructor(options: AccountTokensOptions) {
    this.#options = options
    this.#keys = deriveKeys(options.secret, 'tokens in mails')
    this.#throttle = options.rateLimit
      ? new PasswordAttempts(options.db, options.secret, options.now, 'password resets')
      : undefined
    for (const kind of ['invitation', 'password-reset', 'contact'] as const) {
      options.outbox.register(kind, { compose: (mail) => this.#compose(kind, mail) })
    }
  }

  /** Queues an invitation, in the transaction that creates the account. */
  async invite(tx: Transaction, account: Account, by: Account): Promise<void> {
    await this.#issue(tx, 'invitation', account, {
      by: displayName(by),
      ...(by.language && { language: by.language }),
    })
  }

  /** Queues a mail that verifies the contact address of an account, if it has an unverified one. */
  async verifyContact(tx: Transaction, account: Account): Promise<void> {
    if (account.contactEmail === '' || account.contactVerified) return
    await this.#issue(tx, 'contact', account, {})
  }

  /**
   * Counts a request for a new password, for all nodes together. Returns the seconds to wait after too many for one name, whether it exists or not.
   */
  async throttle(login: string, network: string): Promise<number | undefined> {
    return this.#throttle?.begin(login, { network })
  }

  /**
   * Queues a mail for a forgotten password some seconds later, if there is such an account. The response waits for one lookup and
   * one transaction either way, and requests right after it wait for nothing more, so that no time tells which accounts exist. After a crash in
   * between, no mail is sent and the user asks again.
   */
  async requestReset(login: string, language: Language | undefined, address: string): Promise<void> {
    const { accounts, audit, db, outbox } = this.#options
    const account = await accounts.findByLogin(login)
    const actor = account?.email ?? 'unknown'
    await audit.append({ actor, address }, accountAction('password-reset-requested', actor))
    if (!account?.active) return
    outbox.defer(() =>
      db.write((tx) => this.#issue(tx, 'password-reset', account, language ? { language } : {})),
    )
  }

  /** The account that a token chooses a password for; undefined for an invalid one. */
  async find(token: string): Promise<{ account: Account; purpose: TokenPurpose } | undefined> {
    const { db, accounts, now } = this.#options
    const found = await findAccountToken(db, hashOf(token), now())
    const account = found && (await accounts.findByKey(found.accountKey))
    return found && account?.active ? { account, purpose: found.purpose } : undefined
  }

  /** Sets the password and ends all sessions. Throws AccountRuleError. */
  async choosePassword(token: string, password: string, address: string): Promise<Account> {
    const { accounts, now } = this.#options
    const found = await this.find(token)
    if (found === undefined || found.purpose === 'contact')
      throw new AccountRuleError('account-token-invalid')
    const { email } = found.account
    return accounts.setPassword(
      email,
      { password, chosenByOwner: true },
      { actor: email, address },
      async (tx) => {
        // In the transaction, so that of two concurrent uses one fails.
        if (!(await consumeAccountToken(tx, hashOf(token), now())))
          throw new AccountRuleError('account-token-invalid')
      },
    )
  }

  /** Marks the contact address as verified. Throws AccountRuleError. */
  async confirmContact(token: string): Promise<Account> {
    const { accounts, db, now } = this.#options
    const hash = hashOf(token)
    const found = await findAccountToken(db, hash, now())
    const account = found?.purpose === 'contact' ? await accounts.findByKey(found.accountKey) : undefined
    if (found === undefined || account === undefined || account.contactEmail !== found.address) {
      throw new AccountRuleError('account-token-invalid')
    }
    const changes = { contactEmail: found.address, contactVerified: true } as const
    return accounts.update(account.email, changes, undefined, async (tx) => {
      if (!(await consumeAccountToken(tx, hash, now()))) throw new AccountRuleError('account-token-invalid')
    })
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteExpiredAccountTokens(tx, now()), { durable: false })
  }

  async #issue(
    tx: Transaction,
    purpose: TokenPurpose,
    account: Account,
    detail: TokenMailDetail,
  ): Promise<void> {
    const { outbox, now } = this.#options
    if (!outbox.isConfigured) return
    // More would let strangers fill a mailbox.
    if ((await outbox.countOfDay(tx, { accountKey: account.key }, purpose)) >= MAX_PER_DAY) return
    const id = randomUUID()
    const row = {
      accountKey: account.key,
      purpose,
      address: purpose === 'contact' ? account.contactEmail : '',
      expiresAt: now() + LIFE_SECONDS[purpose],
    }
    await replaceAccountToken(tx, hashOf(this.#tokenOf(id)), row, now())
    await outbox.put(tx, { id, kind: purpose, accountKey: account.key, detail: JSON.stringify(detail) })
  }

  #tokenOf(mailId: string, key: Buffer | undefined = this.#keys[0]): string {
    return createHmac('sha256', key ?? '')
      .update(mailId)
      .digest('base64url')
  }

  async #compose(purpose: TokenPurpose, mail: Mail): Promise<MailContent | undefined> {
    const { outbox, now, db } = this.#options
    // The secret may have been replaced since the mail was queued.
    for (const key of this.#keys) {
      const token = this.#tokenOf(mail.id, key)
      const found = await this.find(token)
      const row = await findAccountToken(db, hashOf(token), now())
      if (found === undefined || row === undefined) continue
      return content(purpose, { ...found, address: row.address, token, outbox, mail })
    }
    return undefined
  }
}

function content(
  purpose: TokenPurpose,
  parts: { account: Account; address: string; token: string; outbox: Outbox; mail: Mail },
): MailContent {
  const { account, address, token, outbox, mail } = parts
  const { by = '', language: sent } = JSON.parse(mail.detail) as TokenMailDetail
  const language = account.language ?? sent ?? 'en'
  const { messages, format } = mailTexts(language)
  const { site } = outbox
  const email = nameInMail(account.email)
  const name = displayName(account)
  const common = {
    to: { name, address: purpose === 'contact' ? address : mailAddressOf(account) },
    language,
    why: format(messages.why, { site, email }),
  }
  const greeting = format(messages.greeting, { name: nameInMail(name) })
  // In the URL fragment, which browsers never send, so that the token is in no log of a server or proxy.
  const url = outbox.appUrl(`${purpose === 'contact' ? 'confirm-address' : 'set-password'}#${token}`)
  if (purpose === 'contact') {
    const { subject, intro, action, ignore } = messages.verify
    const line = format(intro, { address: nameInMail(address), email, site })
    return { ...common, subject, lines: [line], action: { label: action, url }, remarks: [ignore] }
  }
  if (purpose === 'invitation') {
    const { subject, intro, action, valid } = messages.invitation
    return {
      ...common,
      subject: format(subject, { name: by, site }),
      lines: [greeting, format(intro, { name: nameInMail(by), site, email })],
      action: { label: action, url },
      remarks: [format(valid, { days: LIFE_SECONDS.invitation / 86_400 })],
    }
  }
  const { subject, intro, action, valid, ignore } = messages.reset
  return {
    ...common,
    subject,
    lines: [greeting, format(intro, { email, site })],
    action: { label: action, url },
    remarks: [format(valid, { minutes: LIFE_SECONDS['password-reset'] / 60 }), ignore],
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
