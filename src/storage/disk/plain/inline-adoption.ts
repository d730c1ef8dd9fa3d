import { setImmediate } from 'node:timers/promises'
import type { AdopterOptions } from '../../index.ts'
import type { FileAdoption } from '../disk-adopter.ts'
import { type Adopted, type AdoptedFiles, FileAdopter } from '../file-adopter.ts'

/** Adopts files in this thread, one at a time. Meant for commands, which may hold their event loop for the time of a block. */
export class InlineAdoption implements FileAdoption {
  readonly #adopter: FileAdopter

  constructor(options: AdopterOptions) {
    this.#adopter = new FileAdopter(options)
  }

  async adopt({ files, flushedBeforeMs }: AdoptedFiles): Promise<readonly Adopted[]> {
    const results: Adopted[] = []
    for (const file of files) {
      results.push(await this.#adopter.adopt(file, flushedBeforeMs))
      await setImmediate()
    }
    return results
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
