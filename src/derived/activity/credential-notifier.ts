import { type Accounts, displayName, mailAddressOf } from '../../people/accounts/index.ts'
import type { CredentialNotice } from '../../people/credentials/index.ts'
import { type Mail, type MailContent, mailTexts, nameInMail, type Outbox } from '../../people/mail/index.ts'
import { credentialAdded } from './notices.ts'
import type { Notifications } from './notifications.ts'

type AddedCredential = Parameters<CredentialNotice>[2]

/** What changes how the account signs in, without a new credential. */
const changes: ReadonlySet<AddedCredential['kind']> = new Set([
  'second-factor',
  'second-factor-removed',
  'second-factor-reset',
  'recovery-codes',
])

const MAIL = 'credential'
/** Mails to one account in 24 hours. Further credentials are only notified of in the app. */
const MAX_PER_DAY = 30

interface CredentialNotifierOptions {
  readonly notifications: Notifications
  readonly accounts: Accounts
  readonly outbox: Outbox
}

/**
 * Tells an account of credentials that outlive the session they were made in, by a notification and by a mail that cannot be declined: it
 * may not have been the owner who made them.
 */
export class CredentialNotifier {
  readonly #options: CredentialNotifierOptions

  constructor(options: CredentialNotifierOptions) {
    this.#options = options
    options.outbox.register(MAIL, { compose: (mail) => this.#compose(mail) })
  }

  readonly ofAdded: CredentialNotice = async (tx, { key }, added) => {
    const { notifications, outbox } = this.#options
    await notifications.put(tx, [key], ...credentialAdded(added))
    if (!outbox.isConfigured || (await outbox.countOfDay(tx, { accountKey: key }, MAIL)) >= MAX_PER_DAY)
      return
    const { library, ...others } = added
    const detail: AddedCredential = {
      ...others,
      ...(library && { library: { id: library.id, name: library.name } }),
    }
    await outbox.put(tx, { kind: MAIL, accountKey: key, detail: JSON.stringify(detail) })
  }

  async #compose(mail: Mail): Promise<MailContent | undefined> {
    const { accounts, outbox } = this.#options
    const account = mail.accountKey === null ? undefined : await accounts.findByKey(mail.accountKey)
    if (!account?.active) return undefined
    const { kind, name = '', library, address } = JSON.parse(mail.detail) as AddedCredential
    const language = account.language ?? 'en'
    const { messages, format } = mailTexts(language)
    const { site } = outbox
    const email = nameInMail(account.email)
    const names = { name: nameInMail(name), item: nameInMail(library?.name ?? ''), address, email, site }
    const { subject, subjectChanged, action, ignore } = messages.credential
    const isChange = changes.has(kind)
    return {
      to: { name: displayName(account), address: mailAddressOf(account) },
      language,
      subject: isChange ? subjectChanged : subject,
      lines: [
        format(messages.greeting, { name: nameInMail(displayName(account)) }),
        format(messages.credential[kind], names),
      ],
      action: {
        label: action,
        url: outbox.appUrl(isChange ? 'account/security' : kind === 'contact' ? 'account' : 'account/tokens'),
      },
      remarks: [ignore],
      why: format(messages.why, { site, email }),
    }
  }
}
