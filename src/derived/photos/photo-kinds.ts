import { isPicture } from '../previews/index.ts'

/** What a photo of the timeline is: an image of pixels, or a video. */
export type PhotoKind = 'image' | 'video'

const images = new Set('jpg jpeg jfif png gif webp avif heic heif tif tiff'.split(' '))
const videos = new Set('mp4 m4v mov webm mkv avi 3gp ogv'.split(' '))

/** Judged by name and size. Undefined for a file that is not shown in the timeline. */
export function photoKindOf(file: { readonly name: string; readonly size: number }): PhotoKind | undefined {
  if (file.size === 0) return undefined
  const extension = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase()
  if (images.has(extension)) return 'image'
  return videos.has(extension) ? 'video' : undefined
}

/** Whether date, size and placeholder of a photo are read from its bytes. Videos and very large images have their modification time only. */
export function isReadable(file: { readonly name: string; readonly size: number }): boolean {
  return isPicture(file)
}
