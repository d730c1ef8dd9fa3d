import './photos.css'
import { Images } from 'lucide-react'
import { usePhotoDays } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, LoadError, useTitle } from '../ui/index.ts'
import { Timeline } from './timeline.tsx'

const SKELETON_TILES = 24

/** Photos and videos of all libraries by date taken. */
export default function PhotosPage() {
  const texts = useTexts('photos')
  const common = useTexts('common')
  useTitle(texts.title)
  const { data: days, error, refetch } = usePhotoDays()
  if (days !== undefined && days.length > 0) return <Timeline days={days} />
  return (
    <div className="photos">
      <header className="photos-head">
        <h1>{texts.title}</h1>
      </header>
      {days !== undefined ? (
        <Empty icon={Images} title={texts.empty} hint={texts.emptyHint}>
          <ButtonLink to="/">{common.toLibraries}</ButtonLink>
        </Empty>
      ) : error ? (
        <LoadError error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="photos-skeleton" role="status">
          <span className="visually-hidden">{common.loading}</span>
          {Array.from({ length: SKELETON_TILES }, (_, place) => (
            <i key={place} />
          ))}
        </div>
      )}
    </div>
  )
}
