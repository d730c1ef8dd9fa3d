import { condemnedBlocks } from '../../libraries/content/index.ts'
import type { Reader } from '../../platform/database/index.ts'

const ROWS_PER_STEP = 1000
const ID_BYTES = 20

/** Ids of block files, 20 bytes each; undefined to scan the small blocks. */
export interface UnheldInput {
  readonly files: Uint8Array | undefined
  readonly most: number
}

/** Those that no library holds and that are not condemned, 20 bytes each. */
export async function listUnheld(reader: Reader, { files, most }: UnheldInput): Promise<Uint8Array> {
  const unheld: Uint8Array[] = []
  if (files === undefined) {
    for (
      let after: Uint8Array | undefined = new Uint8Array(0);
      after !== undefined && unheld.length < most;
    ) {
      const page: { unheld: Uint8Array[]; last: Uint8Array | undefined } =
        await condemnedBlocks.listUnheldSmallAfter(reader, after, ROWS_PER_STEP)
      unheld.push(...page.unheld)
      after = page.last
    }
    return Buffer.concat(unheld)
  }
  for (let at = 0; at < files.length; at += ROWS_PER_STEP * ID_BYTES) {
    const page = files.subarray(at, at + ROWS_PER_STEP * ID_BYTES)
    const ids = Array.from({ length: page.length / ID_BYTES }, (_, index) =>
      page.subarray(index * ID_BYTES, (index + 1) * ID_BYTES),
    )
    for (const { id, isCondemned } of await condemnedBlocks.findUnheld(reader, ids))
      if (!isCondemned) unheld.push(id)
  }
  return Buffer.concat(unheld)
}
