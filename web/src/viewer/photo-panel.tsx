import { useQuery } from '@tanstack/react-query'
import { fetchBytes, openFile } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import type { OpenedFile } from './opened-file.ts'
import { readPhotoDetails } from './photo-details.ts'

/** Cameras write their tags at the beginning. */
const TAG_BYTES = 256 * 1024

/** Details of a photo, next to it: the file, and what the camera wrote into it. Read in the browser. */
export function PhotoPanel({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const { data } = useQuery({
    queryKey: ['photo-details', file.libraryId, file.path, file.id],
    queryFn: async ({ signal }) => {
      const { link } = await openFile(file, signal)
      const bytes = await fetchBytes(link, TAG_BYTES, signal)
      return (await readPhotoDetails(bytes.buffer)) ?? null
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  const place = data?.place
  const rows: readonly (readonly [string, string | undefined])[] = [
    [texts.photoTaken, data?.taken && formats.moment(data.taken.replace(' ', 'T'))],
    [texts.photoCamera, data?.camera],
    [texts.photoLens, data?.lens],
    [texts.photoExposure, data?.exposure],
    [texts.photoPlace, place && `${place.latitude.toFixed(5)}, ${place.longitude.toFixed(5)}`],
    [common.size, formats.size(file.size)],
    [common.modified, formats.moment(file.mtime)],
  ]
  return (
    <aside className="viewer-panel" aria-label={texts.photoDetails}>
      <h2>{texts.photoDetails}</h2>
      {data === null && <p className="muted">{texts.photoNoDetails}</p>}
      <dl>
        {rows.map(
          ([label, value]) =>
            value !== undefined && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <bdi>{value}</bdi>
                </dd>
              </div>
            ),
        )}
      </dl>
    </aside>
  )
}
