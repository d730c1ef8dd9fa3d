import {
  type Bucket,
  ObjectMissing as MissingInBucket,
  openBucket,
  readObject,
  S3Refused,
  S3Unavailable,
  writeObject,
} from '../s3/index.ts'
import { BackupError, type BackupTarget, ObjectMissing, type TargetObject } from './target.ts'

/** How to reach an S3 service. */
export interface S3Settings {
  /** Undefined for Amazon's. Buckets are part of the path. */
  readonly endpoint: string | undefined
  readonly region: string
  /** Both undefined for the credential chain of the SDK. */
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined
  /** Server-side encryption that is requested for every object. */
  readonly encryption?:
    | { readonly algorithm: 'AES256' | 'aws:kms'; readonly keyId: string | undefined }
    | undefined
}

/** Backups wait longer than requests of clients. An object has up to some 20 MB. */
const LIMITS = { retryMs: 120_000, attemptMs: 5 * 60_000 }

/** A prefix in a bucket of an S3 service. An object is durable and visible as a whole once PUT succeeded. */
export class S3Target implements BackupTarget {
  readonly place: string
  readonly #bucket: Bucket

  private constructor(place: string, bucket: Bucket) {
    this.place = place
    this.#bucket = bucket
  }

  /** `url` is `s3://bucket/prefix`. No request is made. Throws BackupError. */
  static async open(
    url: string,
    { endpoint, region, accessKey, secretKey, sessionToken, encryption }: S3Settings,
  ): Promise<S3Target> {
    const [, name, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(url) ?? []
    if (name === undefined) throw new BackupError(`${url} names no bucket: write s3://bucket/prefix.`)
    if ((accessKey === undefined) !== (secretKey === undefined)) {
      throw new BackupError(
        'Set both CARREL_BACKUP_S3_ACCESS_KEY and CARREL_BACKUP_S3_SECRET_KEY for backups to S3, or neither to use the AWS credentials of this account.',
      )
    }
    const bucket = await openBucket(
      {
        bucket: name,
        prefix: prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`,
        endpoint,
        region,
        pathStyle: true,
        encryption,
        credentials:
          accessKey === undefined || secretKey === undefined
            ? undefined
            : { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken },
      },
      LIMITS,
    )
    return new S3Target(url, bucket)
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#translated(name, writeObject(this.#bucket, name, bytes))
  }

  async get(name: string, range?: { start: number; length: number }): Promise<Buffer> {
    if (range?.length === 0) return Buffer.alloc(0)
    const part = range && { start: range.start, end: range.start + range.length }
    return this.#translated(name, readObject(this.#bucket, name, part))
  }

  async *list(prefix: string): AsyncGenerator<TargetObject, void> {
    const objects = this.#bucket.list(prefix)
    for (;;) {
      const { value, done } = await this.#translated(prefix, objects.next())
      if (done === true) return
      yield value
    }
  }

  remove(name: string): Promise<void> {
    return this.#translated(name, this.#bucket.remove(name))
  }

  async #translated<T>(name: string, request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (cause) {
      if (cause instanceof MissingInBucket) throw new ObjectMissing(name, this.place, { cause })
      if (!(cause instanceof S3Refused || cause instanceof S3Unavailable)) throw cause
      const { reason } = cause
      throw new BackupError(
        `The backup target ${this.place} cannot be used (${reason}): see that the bucket exists, and check CARREL_BACKUP_S3_ENDPOINT and the access key.`,
        { cause },
      )
    }
  }
}
