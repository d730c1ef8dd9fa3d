import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

const FIXTURE = path.join(import.meta.dirname, '../fixtures/seafile-13')

/** The rows that the Seafile server of the fixture had in its databases. */
export const SEAFILE_DUMP = path.join(FIXTURE, 'dump.sql.gz')

/** Unpacks what a Seafile server wrote into its data folder. The archive has only files with short names. */
export async function unpackSeafile(folder: string): Promise<void> {
  const tar = gunzipSync(await readFile(path.join(FIXTURE, 'storage.tar.gz')))
  const text = (at: number, length: number) => tar.toString('latin1', at, at + length).replace(/\0.*$/s, '')
  for (let at = 0; text(at, 100) !== ''; ) {
    const [file, size] = [path.join(folder, text(at, 100)), Number.parseInt(text(at + 124, 12), 8)]
    if (text(at + 156, 1) === '5') await mkdir(file, { recursive: true })
    else await writeFile(file, tar.subarray(at + 512, at + 512 + size))
    at += 512 * (1 + Math.ceil(size / 512))
  }
}
