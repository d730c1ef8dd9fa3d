/** Maximum size of a source image, in bytes. */
export const LARGEST_SOURCE = 30 * 2 ** 20

const extensions = new Set(['jpg', 'jpeg', 'jfif', 'png', 'gif', 'webp', 'avif', 'tif', 'tiff'])

/** Whether a file can have a thumbnail, judged by name and size. */
export function hasThumbnail({ name, size }: { readonly name: string; readonly size: number }): boolean {
  if (size === 0 || size > LARGEST_SOURCE) return false
  return extensions.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
}
