const MIB = 2 ** 20
const GIB = 2 ** 30

/** A size in whole MiB or GiB. */
export function sizeText(bytes: number): string {
  return bytes % GIB === 0 ? `${bytes / GIB} GiB` : `${bytes / MIB} MiB`
}
