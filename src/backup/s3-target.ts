import { AwsClient } from 'aws4fetch'
import { Parser } from 'htmlparser2'
import { BackupError, type BackupTarget, ObjectMissing, type TargetObject } from './target.ts'

/** How to reach an S3 service. */
export interface S3Settings {
  /** Undefined for Amazon's. Buckets are part of the path. */
  readonly endpoint: string | undefined
  readonly region: string
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
}

const RETRIES = 5
const TIMEOUT_MS = 5 * 60_000

/** A prefix in a bucket of an S3 service. An object is durable and visible as a whole once PUT succeeded. */
export class S3Target implements BackupTarget {
  readonly place: string
  readonly #client: AwsClient
  readonly #bucketUrl: string
  readonly #prefix: string

  /** `url` is `s3://bucket/prefix`. Throws BackupError. */
  constructor(url: string, { endpoint, region, accessKey, secretKey }: S3Settings) {
    const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(url) ?? []
    if (bucket === undefined) throw new BackupError(`${url} names no bucket: write s3://bucket/prefix.`)
    if (accessKey === undefined || secretKey === undefined) {
      throw new BackupError(
        'Set CARREL_BACKUP_S3_ACCESS_KEY and CARREL_BACKUP_S3_SECRET_KEY for backups to S3.',
      )
    }
    this.place = url
    this.#prefix = prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`
    this.#bucketUrl = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${encodeURIComponent(bucket)}`
    this.#client = new AwsClient({
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      region,
      service: 's3',
      retries: RETRIES,
    })
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#send('PUT', this.#urlOf(name), { body: new Uint8Array(bytes) })
  }

  async get(name: string, range?: { start: number; length: number }): Promise<Buffer> {
    if (range?.length === 0) return Buffer.alloc(0)
    const headers: Record<string, string> =
      range === undefined ? {} : { Range: `bytes=${range.start}-${range.start + range.length - 1}` }
    const bytes = await this.#send('GET', this.#urlOf(name), { headers })
    if (bytes === undefined) throw new ObjectMissing(name, this.place)
    return bytes
  }

  async *list(prefix: string): AsyncGenerator<TargetObject, void> {
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix + prefix })
      if (token !== undefined) query.set('continuation-token', token)
      const found = await this.#send('GET', `${this.#bucketUrl}?${query.toString()}`)
      if (found === undefined) throw this.#failed('the bucket does not exist')
      const page = parseList(found.toString('utf8'))
      for (const { key, size } of page.objects) yield { name: key.slice(this.#prefix.length), size }
      token = page.next
    }
  }

  async remove(name: string): Promise<void> {
    await this.#send('DELETE', this.#urlOf(name))
  }

  #urlOf(name: string): string {
    const key = `${this.#prefix}${name}`.split('/').map(encodeURIComponent).join('/')
    return `${this.#bucketUrl}/${key}`
  }

  /** The body of the response; undefined for 404. The client repeats requests that were answered with 5xx or 429. */
  async #send(
    method: string,
    url: string,
    options: { body?: Uint8Array<ArrayBuffer>; headers?: Record<string, string> } = {},
  ): Promise<Buffer | undefined> {
    let response: Response
    let bytes: Buffer
    try {
      response = await this.#client.fetch(url, {
        method,
        ...options,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      bytes = Buffer.from(await response.arrayBuffer())
    } catch (cause) {
      throw this.#failed('it does not answer', cause)
    }
    if (response.ok) return bytes
    if (response.status === 404 && method !== 'PUT') return undefined
    const code = /<Code>([^<]*)<\/Code>/.exec(bytes.toString('utf8'))?.[1] ?? ''
    throw this.#failed(`${response.status} ${code}`.trim())
  }

  #failed(reason: string, cause?: unknown): BackupError {
    return new BackupError(
      `The backup target ${this.place} cannot be used (${reason}): see that the bucket exists, and check CARREL_BACKUP_S3_ENDPOINT and the access key.`,
      { cause },
    )
  }
}

/** Reads a response to ListObjectsV2. */
function parseList(xml: string): { objects: { key: string; size: number }[]; next: string | undefined } {
  const objects: { key: string; size: number }[] = []
  let next: string | undefined
  let entry = { key: '', size: 0 }
  let text = ''
  const parser = new Parser(
    {
      onopentagname(name) {
        text = ''
        if (name === 'Contents') entry = { key: '', size: 0 }
      },
      ontext(more) {
        text += more
      },
      onclosetag(name) {
        if (name === 'Key') entry.key = text
        else if (name === 'Size') entry.size = Number(text)
        else if (name === 'Contents') objects.push(entry)
        else if (name === 'NextContinuationToken') next = text
        text = ''
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.end(xml)
  return { objects, next }
}
