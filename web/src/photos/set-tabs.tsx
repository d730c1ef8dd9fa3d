import type { PhotoSet } from '../api/index.ts'
import { photosUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { TabNav } from '../ui/index.ts'

const SETS: readonly PhotoSet[] = ['all', 'starred']

/** The timelines: all photos, and the favourites. */
export function SetTabs({ current }: { current: PhotoSet }) {
  const texts = useTexts('photos')
  return (
    <TabNav label={texts.title} names={SETS} current={current} addressOf={photosUrl}>
      {(set) => (set === 'starred' ? texts.favourites : texts.all)}
    </TabNav>
  )
}
