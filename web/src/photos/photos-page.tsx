import './photos.css'
import { Images, Star } from 'lucide-react'
import { useParams } from 'wouter'
import { usePhotoDays } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, LoadError, useTitle } from '../ui/index.ts'
import { SetTabs } from './set-tabs.tsx'
import { Timeline } from './timeline.tsx'

const SKELETON_TILES = 24

/** Photos and videos of all libraries by date taken. */
export default function PhotosPage() {
  const { set: sent } = useParams<{ set?: string }>()
  const set = sent === 'starred' ? 'starred' : 'all'
  const texts = useTexts('photos')
  const common = useTexts('common')
  useTitle(texts.title)
  const { data: days, error, refetch } = usePhotoDays(set)
  if (days !== undefined && days.length > 0) return <Timeline key={set} days={days} set={set} />
  return (
    <div className="photos">
      <header className="photos-head">
        <h1>{texts.title}</h1>
        <SetTabs current={set} />
      </header>
      {days !== undefined ? (
        <Empty
          icon={set === 'starred' ? Star : Images}
          title={set === 'starred' ? texts.noFavourites : texts.empty}
          hint={set === 'starred' ? texts.noFavouritesHint : texts.emptyHint}
        >
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
