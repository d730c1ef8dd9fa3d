import { readFile } from 'node:fs/promises'
import { connect, isIP, type Socket } from 'node:net'
import type { createTransport } from 'nodemailer'
import type { MailContent } from './message.ts'
import { headerText, htmlText, plainText } from './message.ts'

/** The mail server and the sender. */
export interface SmtpSettings {
  readonly server: {
    readonly host: string
    readonly port: number
    readonly tls: 'implicit' | 'starttls' | 'optional' | 'off'
    readonly user: string | undefined
    readonly password: string
    /** A PEM file. */
    readonly ca: string | undefined
  }
  readonly from: string
}

/** The mail server did not accept a message. The text is for administrators and contains no password. */
export class MailRefused extends Error {
  /** Whether trying again is pointless: the server refuses the recipient or the message. */
  readonly isPermanent: boolean

  constructor(message: string, isPermanent: boolean, cause: unknown) {
    super(message, { cause })
    this.isPermanent = isPermanent
  }
}

// Each step of a conversation. A whole one takes less than the lease of a mail.
const STEP_TIMEOUT_MS = 20_000
const MAX_RESPONSE_LENGTH = 300

/** Sends mail over SMTP, one connection per message. The library is loaded with the first one. */
export class Smtp {
  readonly #settings: SmtpSettings

  constructor(settings: SmtpSettings) {
    this.#settings = settings
  }

  /** The host part of message ids. */
  get domain(): string {
    return /@([^>]+)>?$/.exec(this.#settings.from)?.[1] ?? 'localhost'
  }

  /** Resolves once the mail server has accepted the message. Throws MailRefused. */
  async send(content: MailContent, { id, site }: { id: string; site: string }, signal: AbortSignal) {
    const { to, replyTo, settings } = content
    await this.#withTransport(signal, (transport) =>
      transport.sendMail({
        from: this.#settings.from,
        to: { name: headerText(to.name), address: to.address },
        ...(replyTo && { replyTo: { name: headerText(replyTo.name), address: replyTo.address } }),
        subject: headerText(content.subject),
        text: plainText(content),
        html: htmlText(content, site),
        messageId: `<${id}@${this.domain}>`,
        headers: {
          // No automatic answers (RFC 3834).
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          ...(settings && { 'List-Unsubscribe': `<${settings.url}>` }),
        },
        // Content comes from texts alone.
        disableFileAccess: true,
        disableUrlAccess: true,
      }),
    )
  }

  /** Connects and signs in, without sending anything. Throws MailRefused. */
  async verify(signal: AbortSignal): Promise<void> {
    await this.#withTransport(signal, (transport) => transport.verify())
  }

  async #withTransport<T>(
    signal: AbortSignal,
    use: (transport: ReturnType<typeof createTransport>) => Promise<T>,
  ): Promise<T> {
    const { host, port, tls, user, password, ca } = this.#settings.server
    let socket: Socket | undefined
    const abort = () => socket?.destroy(new Error('the server is stopping'))
    signal.addEventListener('abort', abort)
    try {
      signal.throwIfAborted()
      const nodemailer = await import('nodemailer')
      const transport = nodemailer.createTransport({
        host,
        port,
        secure: tls === 'implicit',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'off',
        tls: {
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca !== undefined && { ca: await readFile(ca) }),
        },
        ...(user !== undefined && { auth: { user, pass: password } }),
        connectionTimeout: STEP_TIMEOUT_MS,
        greetingTimeout: STEP_TIMEOUT_MS,
        socketTimeout: STEP_TIMEOUT_MS,
        // A socket of our own, which can be closed when the server stops.
        getSocket(_options: unknown, give: (error: Error | null, socket?: { connection: Socket }) => void) {
          const opened = connect({ host, port, timeout: STEP_TIMEOUT_MS })
          socket = opened
          const onTimeout = () => opened.destroy(new Error('no connection within 20 seconds'))
          opened.once('timeout', onTimeout)
          opened.once('error', give)
          opened.once('connect', () => {
            opened.off('timeout', onTimeout)
            opened.off('error', give)
            opened.setTimeout(0)
            give(null, { connection: opened })
          })
        },
      })
      return await use(transport)
    } catch (error) {
      signal.throwIfAborted()
      throw this.#refusal(error)
    } finally {
      signal.removeEventListener('abort', abort)
      socket?.destroy()
    }
  }

  #refusal(error: unknown): MailRefused {
    const {
      message,
      code,
      responseCode = 0,
      command = '',
    } = error as Error & {
      code?: string
      responseCode?: number
      command?: string
    }
    const { host, port } = this.#settings.server
    const response = this.#withoutPassword(headerText(message).slice(0, MAX_RESPONSE_LENGTH))
    const place = `${host}:${port}`
    // 5xx answers to the sign-in are faults of the settings, which an operator corrects.
    if (code === 'EAUTH')
      return new MailRefused(`The mail server ${place} refused the sign-in: ${response}`, false, error)
    if (code === 'ETLS')
      return new MailRefused(`No encrypted connection to ${place}: ${response}`, false, error)
    if (responseCode > 0) {
      const isPermanent = responseCode >= 500 && /^(?:RCPT|DATA|API)/.test(command)
      return new MailRefused(`The mail server ${place} answered: ${response}`, isPermanent, error)
    }
    return new MailRefused(`The mail server ${place} cannot be used: ${response}`, false, error)
  }

  /** A server may repeat what it was sent. */
  #withoutPassword(text: string): string {
    const { user = '', password } = this.#settings.server
    if (password === '') return text
    const forms = [password, btoa8(password), btoa8(`\0${user}\0${password}`)]
    return forms.reduce((left, form) => left.replaceAll(form, '***'), text)
  }
}

function btoa8(text: string): string {
  return Buffer.from(text).toString('base64')
}
