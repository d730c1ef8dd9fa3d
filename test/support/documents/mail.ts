interface MailPart {
  readonly type: string
  readonly body: string | Buffer
  readonly encoding?: 'base64' | 'quoted-printable' | '8bit'
  readonly filename?: string
}

/** A message of parts, as mail programs write them. */
export function makeMail(headers: readonly string[], parts: readonly MailPart[], kind = 'mixed'): Buffer {
  const boundary = '=_boundary'
  const pieces: Buffer[] = [
    Buffer.from(
      [
        ...headers,
        'MIME-Version: 1.0',
        `Content-Type: multipart/${kind}; boundary="${boundary}"`,
        '',
        'preamble',
        '',
      ].join('\r\n'),
    ),
  ]
  for (const part of parts)
    pieces.push(Buffer.from(`--${boundary}\r\n`), partBytes(part), Buffer.from('\r\n'))
  pieces.push(Buffer.from(`--${boundary}--\r\nepilogue\r\n`))
  return Buffer.concat(pieces)
}

function partBytes({ type, body, encoding = '8bit', filename }: MailPart): Buffer {
  const headers = [`Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`]
  if (filename !== undefined) {
    headers.push(`Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(filename)}`)
  }
  return Buffer.concat([
    Buffer.from(`${headers.join('\r\n')}\r\n\r\n`),
    encodeBody(Buffer.from(body), encoding),
  ])
}

function encodeBody(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('base64').replace(/.{76}/g, '$&\r\n'))
  if (encoding === '8bit') return body
  const quoted = [...body].map((byte) =>
    (byte < 32 || byte > 126 || byte === 61) && byte !== 10
      ? `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
      : String.fromCharCode(byte),
  )
  return Buffer.from(quoted.join('').replace(/(?:=[0-9A-F]{2}|[^=\n]){20}/g, '$&=\r\n'))
}

export function encodedWord(text: string, charset = 'utf-8', bytes = Buffer.from(text)): string {
  return `=?${charset}?B?${bytes.toString('base64')}?=`
}
