import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Bucket, ObjectMissing, readObject, writeObject } from '../../s3/index.ts'

/** The id of a store, kept inside of it. */
export interface StoreMarker {
  /** For messages: what to write it to by hand. */
  readonly place: string
  read(): Promise<string | undefined>
  /** Resolves once it is durable. */
  write(id: string): Promise<void>
  remove(): Promise<void>
}

const NAME = 'store-id'

/** The marker of a store on disk, beside the folders of its blocks. */
export function diskMarker(directory: string): StoreMarker {
  const file = path.join(directory, NAME)
  return {
    place: `the file ${file}`,
    async read() {
      try {
        return (await readFile(file, 'utf8')).trim()
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
    async write(id) {
      const temporary = `${file}.new`
      const firstMade = await mkdir(directory, { recursive: true, mode: 0o700 })
      {
        await using handle = await open(temporary, 'w', 0o600)
        await handle.writeFile(`${id}\n`)
        await handle.sync()
      }
      await rename(temporary, file)
      await syncFolder(directory)
      // A new folder is durable once the folder that has its name is synced. Otherwise a power failure could take the marker with it.
      if (firstMade !== undefined) {
        for (let made = directory; made.length >= firstMade.length; made = path.dirname(made)) {
          await syncFolder(path.dirname(made))
        }
      }
    },
    remove: () => rm(file, { force: true }),
  }
}

async function syncFolder(directory: string): Promise<void> {
  await using folder = await open(directory, 'r')
  await folder.sync()
}

/** The marker of a store in S3, below its prefix. */
export function bucketMarker(bucket: Bucket): StoreMarker {
  return {
    place: `the object ${bucket.place}${NAME}`,
    async read() {
      try {
        return (await readObject(bucket, NAME)).toString('utf8').trim()
      } catch (error) {
        if (error instanceof ObjectMissing) return undefined
        throw error
      }
    },
    write: (id) => writeObject(bucket, NAME, Buffer.from(`${id}\n`)),
    remove: () => bucket.remove(NAME),
  }
}
