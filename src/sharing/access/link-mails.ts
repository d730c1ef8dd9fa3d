import {
  type Account,
  type Accounts,
  accountRows,
  displayName,
  mailAddressOf,
  parseEmail,
} from '../../people/accounts/index.ts'
import { type Mail, type MailContent, mailTexts, nameInMail, type Outbox } from '../../people/mail/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { LinkKind } from './link.ts'
import type { Links } from './links.ts'

const KIND = 'link'
const MAX_ADDRESSES = 50
const LONGEST_MESSAGE = 2000

interface LinkMailsOptions {
  readonly db: Database
  readonly links: Links
  readonly accounts: Accounts
  readonly outbox: Outbox
  /** Mails that an account may send in 24 hours. */
  readonly perDay: number
}

interface LinkMailDetail {
  readonly token: string
  readonly kind: LinkKind
  readonly message: string
}

/** What became of an address. */
interface SendingOutcome {
  readonly success: string[]
  readonly failed: { readonly email: string; readonly error_msg: string }[]
}

/** Sends links to addresses by mail. */
export class LinkMails {
  readonly #options: LinkMailsOptions

  constructor(options: LinkMailsOptions) {
    this.#options = options
    options.outbox.register(KIND, { compose: (mail) => this.#compose(mail) })
  }

  /** Queues a mail to each address. Throws link-not-found. */
  async send(
    user: Account,
    { token, kind, message }: LinkMailDetail,
    addresses: readonly string[],
  ): Promise<SendingOutcome> {
    const { db, links, outbox, perDay } = this.#options
    await links.get(user, token, kind)
    const wanted = [...new Set(addresses.map((address) => address.trim()).filter(Boolean))]
    const refuse = (emails: readonly string[], error_msg: string) =>
      emails.map((email) => ({ email, error_msg }))
    if (!outbox.isConfigured) return { success: [], failed: refuse(wanted, 'This server sends no mail.') }
    const valid = wanted.filter((address) => parseEmail(address) !== undefined)
    const invalid = wanted.filter((address) => parseEmail(address) === undefined)
    const success = await db.write(async (tx) => {
      // Two requests could otherwise use the rest of the day twice.
      await accountRows.lock(tx, db.dialect, user.key)
      const used = await outbox.countOfDay(tx, { senderKey: user.key }, KIND)
      const admitted = valid.slice(0, Math.max(0, Math.min(MAX_ADDRESSES, perDay - used)))
      for (const address of admitted) {
        const detail = JSON.stringify({
          token,
          kind,
          message: message.toWellFormed().slice(0, LONGEST_MESSAGE),
        })
        await outbox.put(tx, { kind: KIND, senderKey: user.key, address: parseEmail(address), detail })
      }
      return admitted
    })
    return {
      success,
      failed: [
        ...refuse(invalid, 'Email invalid.'),
        ...refuse(valid.slice(success.length), 'Too many mails in 24 hours. Try again later.'),
      ],
    }
  }

  /** Nothing is sent if the link was deleted, disabled or has expired, or if its creator may not share the item any more. */
  async #compose({ senderKey, address, detail }: Mail): Promise<MailContent | undefined> {
    const { links, accounts, outbox } = this.#options
    const { token, kind, message } = JSON.parse(detail) as LinkMailDetail
    const sender = senderKey === null ? undefined : await accounts.findByKey(senderKey)
    const found = sender?.active ? await links.findUsable(sender, token, kind) : undefined
    if (sender === undefined || found === undefined) return undefined
    const { link } = found
    const recipient = await accounts.find(address)
    const language = recipient?.language ?? sender.language ?? 'en'
    const { messages, format, day } = mailTexts(language)
    const texts = messages.link
    const person = displayName(sender)
    const name = nameInMail(person)
    const item = nameInMail(found.name)
    const isUpload = kind === 'upload'
    return {
      to: { name: recipient === undefined ? '' : displayName(recipient), address },
      replyTo: { name: person, address: mailAddressOf(sender) },
      language,
      subject: format(isUpload ? texts.uploadSubject : texts.subject, { name: person, item: found.name }),
      lines: [format(isUpload ? texts.uploadIntro : texts.intro, { name, item })],
      ...(message.trim() !== '' && { quote: message.trim() }),
      action: {
        label: isUpload ? texts.uploadAction : texts.action,
        url: `${outbox.baseUrl}/${isUpload ? 'u/d' : link.isDir ? 'd' : 'f'}/${token}/`,
      },
      remarks: [
        ...(link.password === undefined ? [] : [format(texts.password, { name })]),
        ...(link.expiresAt === undefined ? [] : [format(texts.until, { day: day(link.expiresAt) })]),
      ],
      why: format(messages.whyLink, { site: outbox.site, name }),
    }
  }
}
