import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Unfolded; names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly raw: string
  readonly text: string
  readonly html: string
}

export interface SmtpReceiver extends AsyncDisposable {
  readonly port: number
  readonly received: ReceivedMail[]
  /** Resolves once as many mails have arrived. */
  arrived(count: number): Promise<readonly ReceivedMail[]>
}

/** A real mail server on a free port. */
export async function startSmtpReceiver(
  options: SMTPServerOptions & {
    /** Throws to refuse a message. */
    readonly refuse?: (mail: ReceivedMail) => void
    /** Takes messages without an answer. */
    readonly neverAnswers?: boolean
  } = {},
): Promise<SmtpReceiver> {
  const received: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  const { refuse, neverAnswers, ...rest } = options
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    ...rest,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const mail = parse(Buffer.concat(chunks).toString('utf8'), session.envelope)
        try {
          refuse?.(mail)
        } catch (error) {
          done(error as Error)
          return
        }
        received.push(mail)
        for (const look of waiting) look()
        if (!neverAnswers) done()
      })
    },
  })
  // Clients that are refused close the connection at once.
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    port: (listening.address() as AddressInfo).port,
    received,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (received.length < count) return
          waiting.delete(look)
          resolve(received)
        }
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      await promise
    },
  }
}

function parse(
  raw: string,
  envelope: { mailFrom: false | { address: string }; rcptTo: { address: string }[] },
): ReceivedMail {
  const { headers, body } = split(raw)
  const boundary = /boundary="?([^";]+)/.exec(headers.get('content-type') ?? '')?.[1] ?? ''
  const parts = body.split(`--${boundary}`).map((part) => split(part.replace(/^\r\n/, '')))
  const contentOf = (type: string) => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(type))
    return part === undefined ? '' : decoded(part.body, part.headers.get('content-transfer-encoding') ?? '')
  }
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    headers,
    raw,
    text: contentOf('text/plain').replaceAll('\r\n', '\n'),
    html: contentOf('text/html'),
  }
}

function split(raw: string): { headers: ReadonlyMap<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end === -1 ? raw.length : end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), words(line.slice(colon + 1).trim())]
  })
  return { headers: new Map(headers), body: end === -1 ? '' : raw.slice(end + 4) }
}

/** Decodes encoded words (RFC 2047). */
function words(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_match, kind: string, content: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(content, 'base64').toString('utf8')
        : decoded(content.replaceAll('_', ' '), 'quoted-printable'),
    )
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return body
  const bytes = body
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
