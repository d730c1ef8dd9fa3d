import type { BlockId } from '../../../base/objects/index.ts'
import {
  type Adopter,
  type AdopterOptions,
  type Adoption,
  type BlockFile,
  BlockStoreError,
} from '../index.ts'
import type { BlockDirectory } from './block-directory.ts'
import type { Adopted, AdoptedFiles } from './file-adopter.ts'

/** Fewer links than this are flushed one by one, because a flush of the file system waits for the writes of all programs. */
const LINKS_WORTH_A_FLUSH = 64

/** Runs a FileAdopter. One result for each file, in order. */
export interface FileAdoption extends AsyncDisposable {
  adopt(files: AdoptedFiles): Promise<readonly Adopted[]>
}

/** Stores files as blocks, and flushes each folder once for all blocks that were added to it. */
export class DiskAdopter implements Adopter {
  readonly #directory: BlockDirectory
  readonly #adoption: FileAdoption
  /** A block of each folder that has to be flushed, by the name of the folder. */
  #unflushed = new Map<string, BlockId>()
  readonly #copies: boolean
  /** Links that were made, or are about to be if the files can be linked. */
  #links = 0
  #flushedBeforeMs: Promise<number> | undefined

  constructor(directory: BlockDirectory, { copy }: AdopterOptions, adoption: FileAdoption) {
    this.#directory = directory
    this.#copies = copy
    this.#adoption = adoption
  }

  async add(files: readonly BlockFile[]): Promise<Adoption[]> {
    this.#links += files.length
    const flushedBeforeMs = await this.#flushFileSystemOnce()
    const adopted = files.map((file) => this.#directory.adopted(file))
    const results = await this.#adoption.adopt({ files: adopted, flushedBeforeMs })
    this.#links -= results.filter(({ how }) => how !== 'hard link').length
    const adoptions: Adoption[] = []
    let failure: BlockStoreError | undefined
    for (const [index, { id }] of files.entries()) {
      const result = results[index]
      if (result === undefined) throw new Error(`the block ${id} was not looked at`)
      if (result.how === 'failed') {
        const cause = new Error(result.message)
        failure ??= new BlockStoreError(`The block ${id} could not be stored (${result.code}).`, { cause })
        continue
      }
      adoptions.push(result)
      // Also for one that was present: the process that named it may have been killed before it flushed the folder.
      if ('size' in result) this.#unflushed.set(id.slice(0, 2), id)
    }
    if (failure !== undefined) throw failure
    return adoptions
  }

  async flush(): Promise<void> {
    const folders = this.#unflushed
    this.#unflushed = new Map()
    try {
      await Promise.all(Array.from(folders.values(), (id) => this.#directory.sync(id)))
    } catch (error) {
      for (const [folder, id] of folders) this.#unflushed.set(folder, id)
      throw error
    }
  }

  /** Once there are many links. See BlockDirectory.flushFileSystem for the result. */
  #flushFileSystemOnce(): Promise<number> {
    if (this.#flushedBeforeMs !== undefined) return this.#flushedBeforeMs
    if (this.#copies || this.#links < LINKS_WORTH_A_FLUSH) return Promise.resolve(-Infinity)
    this.#flushedBeforeMs = this.#directory.flushFileSystem()
    return this.#flushedBeforeMs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#adoption[Symbol.asyncDispose]()
  }
}
