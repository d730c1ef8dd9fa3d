import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

const PAGE_SIZE = 500
const CHUNK_SIZE = 200
/** Dates are read from files in the background, which no event announces. */
const REFRESH_MS = 20_000

/** An image or video of the timeline. */
export type Photo = Records['Photo']

/** A day with photos. `first` is the place of its first photo in the timeline. */
export interface PhotoDay {
  readonly day: string
  readonly count: number
  readonly first: number
}

/** Consecutive days whose photos are loaded together. */
interface PhotoChunk {
  readonly from: string
  readonly to: string
  readonly first: number
  readonly count: number
}

const daysQuery = queryOptions({
  queryKey: ['photos', 'days'],
  queryFn: async ({ signal }) => {
    const { days } = await api.get('api/v2.1/photos/days/', {}, signal)
    let first = 0
    return days.map(([day, count]): PhotoDay => {
      first += count
      return { day, count, first: first - count }
    })
  },
})

/** The days with photos in all libraries, newest first. */
export function usePhotoDays(isEnabled = true) {
  return useQuery({ ...daysQuery, enabled: isEnabled, refetchInterval: REFRESH_MS })
}

/** Divides the timeline. A day is never divided. */
export function photoChunks(days: readonly PhotoDay[]): PhotoChunk[] {
  const chunks: PhotoChunk[] = []
  for (const { day, count, first } of days) {
    const last = chunks.at(-1)
    if (last === undefined || last.count + count > CHUNK_SIZE) {
      chunks.push({ from: day, to: day, first, count })
    } else chunks[chunks.length - 1] = { ...last, from: day, count: last.count + count }
  }
  return chunks
}

/** The photos of a chunk, newest first. With another count it is another query, so that a new photo is fetched. */
export function photoChunkQuery({ from, to, count }: PhotoChunk) {
  return queryOptions({
    queryKey: ['photos', 'chunk', from, to, count],
    queryFn: async ({ signal }) => {
      const photos: Photo[] = []
      for (let after: string | null = ''; after !== null; ) {
        const page: { photos: readonly Photo[]; next: string | null } = await api.get(
          'api/v2.1/photos/',
          { from, to, after, limit: PAGE_SIZE },
          signal,
        )
        photos.push(...page.photos)
        after = page.next
      }
      return photos
    },
    staleTime: 60_000,
  })
}

/** A photo, and those before and after it in the timeline. */
interface PhotoNeighbours {
  readonly position: number
  readonly count: number
  readonly previous: Photo | undefined
  readonly next: Photo | undefined
}

/** The neighbours of a photo of that day. Undefined until they are loaded, and for a photo that is not in the timeline. */
export function usePhotoNeighbours(
  { libraryId, path }: { readonly libraryId: string; readonly path: string },
  day: string | undefined,
): PhotoNeighbours | undefined {
  const { data: days = [] } = usePhotoDays(day !== undefined)
  const chunks = day === undefined ? [] : photoChunks(days)
  const place = chunks.findIndex(({ from, to }) => day !== undefined && day >= from && day <= to)
  const before = useChunk(chunks[place - 1])
  const here = useChunk(chunks[place])
  const after = useChunk(chunks[place + 1])
  const index = here?.findIndex((photo) => photo.repo_id === libraryId && photo.path === path) ?? -1
  const chunk = chunks[place]
  if (here === undefined || chunk === undefined || index < 0) return undefined
  return {
    position: chunk.first + index,
    count: days.reduce((sum, { count }) => sum + count, 0),
    previous: here[index - 1] ?? (index === 0 ? before?.at(-1) : undefined),
    next: here[index + 1] ?? after?.[0],
  }
}

const NO_CHUNK: PhotoChunk = { from: '', to: '', first: 0, count: 0 }

function useChunk(chunk: PhotoChunk | undefined): readonly Photo[] | undefined {
  return useQuery({ ...photoChunkQuery(chunk ?? NO_CHUNK), enabled: chunk !== undefined }).data
}

/** The day of a photo in the timeline. */
export const photoDay = ({ taken }: Photo) => taken.slice(0, 10)

/** After photos were deleted or moved. */
export function refreshPhotos(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['photos'] })
}

/** Placeholders of the images in a folder, by name. */
export function useThumbhashes(
  libraryId: string,
  path: string,
  isEnabled: boolean,
): Readonly<Record<string, string>> | undefined {
  return useQuery({
    queryKey: ['thumbhashes', libraryId, path],
    queryFn: async ({ signal }) => {
      const url = `api/v2.1/repos/${libraryId}/thumbhashes/` as const
      return (await api.get(url, { p: path }, signal)).thumbhashes
    },
    enabled: isEnabled,
    staleTime: 60_000,
  }).data
}
