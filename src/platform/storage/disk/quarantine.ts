import { constants, copyFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { BlockId } from '../../../base/objects/index.ts'
import { codeOf } from './disk-errors.ts'

/** The folder in which a repair keeps damaged data, as evidence and for another attempt. Nothing in it is ever read or deleted by the server. */
export class Quarantine {
  readonly #folder: string
  readonly #blocks: string

  /** `blocks` is the folder of the block store. */
  constructor(folder: string, blocks: string) {
    this.#folder = folder
    this.#blocks = blocks
  }

  /** Keeps damaged bytes. Of several with one name the first stays. */
  async keep(name: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(path.join(this.#folder, name), bytes, { flag: 'wx', mode: 0o600 }).catch(unless('EEXIST'))
  }

  /** Keeps a copy of the file of a block, if there is one. */
  async keepFile(id: BlockId): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const source = path.join(this.#blocks, id.slice(0, 2), id.slice(2))
    const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE
    await copyFile(source, path.join(this.#folder, id), mode).catch(unless('ENOENT', 'EEXIST'))
  }
}

function unless(...codes: readonly string[]) {
  return (error: unknown) => {
    if (!codes.includes(codeOf(error))) throw error
  }
}
