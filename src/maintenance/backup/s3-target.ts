import { type BucketAddress, parseBucketAddress } from '../../base/bucket-address.ts'
import {
  type Bucket,
  ObjectMissing as MissingInBucket,
  openBucket,
  readObject,
  S3Refused,
  S3Unavailable,
  writeObject,
} from '../../platform/s3/index.ts'
import { BackupError, type BackupTarget, ObjectMissing, type TargetObject } from './target.ts'

/** Deprecated settings. They are the defaults of parameters that the address does not give. */
export interface S3Settings {
  readonly endpoint: string | undefined
  readonly region: string | undefined
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  readonly sessionToken?: string | undefined
  readonly encryption?: BucketAddress['encryption']
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

  /** `url` is `s3://bucket/prefix` with parameters. No request is made. Throws BackupError. */
  static async open(url: string, settings: S3Settings): Promise<S3Target> {
    const address = parseBucketAddress(url)
    if (address === undefined) {
      throw new BackupError(
        `${url} names no bucket: write s3://bucket/prefix, with parameters such as ?endpoint=https://s3.example.org&region=us-east-1.`,
      )
    }
    const { accessKey, secretKey, sessionToken } = settings
    if ((accessKey === undefined) !== (secretKey === undefined)) {
      throw new BackupError(
        'Set both CARREL_BACKUP_S3_ACCESS_KEY and CARREL_BACKUP_S3_SECRET_KEY for backups to S3, or neither to use the AWS credentials of this account.',
      )
    }
    const named = new URLSearchParams(url.replace(/^[^?]*/, ''))
    const bucket = await openBucket(
      {
        ...address,
        endpoint: address.endpoint ?? settings.endpoint,
        region: named.has('region') ? address.region : (settings.region ?? address.region),
        pathStyle: named.has('path_style') ? address.pathStyle : true,
        encryption: address.encryption ?? settings.encryption,
        credentials:
          accessKey === undefined || secretKey === undefined || address.profile !== undefined
            ? undefined
            : { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken },
      },
      LIMITS,
    )
    return new S3Target(bucket.place.replace(/\/$/, ''), bucket)
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
        `The backup target ${this.place} cannot be used (${reason}): see that the bucket exists, and check its endpoint and the AWS credentials.`,
        { cause },
      )
    }
  }
}
