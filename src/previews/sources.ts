/** The largest file a thumbnail is made of, in bytes. */
export const LARGEST_SOURCE = 30 * 2 ** 20

const extensions = new Set(['jpg', 'jpeg', 'jfif', 'png', 'gif', 'webp', 'avif', 'tif', 'tiff'])

/** Whether a thumbnail can be made of a file, as far as its name and size tell. */
export function hasThumbnail({ name, size }: { readonly name: string; readonly size: number }): boolean {
  if (size === 0 || size > LARGEST_SOURCE) return false
  return extensions.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
}
