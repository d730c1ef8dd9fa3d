import { Globe, LibraryBig, Plus, Upload, Users } from 'lucide-react'
import { useTexts } from '../texts/texts.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/states.tsx'
import { pickFiles } from '../uploads/picking.ts'
import { useFirstUpload } from './first-upload.ts'
import type { Way } from './ways.ts'

/** In the place of a list nobody has put anything in yet. */
export function NothingHere(props: { way: Way; onMake: () => void }) {
  const texts = useTexts('libraries')
  if (props.way === 'mine') return <NoneOfMine onMake={props.onMake} />
  if (props.way === 'shared') {
    return <Empty icon={Users} title={texts.emptyShared} hint={texts.emptySharedHint} />
  }
  if (props.way === 'group') {
    return (
      <Empty icon={Users} title={texts.emptyGroups} hint={texts.emptyGroupsHint}>
        <ButtonLink to="/groups">{texts.toGroups}</ButtonLink>
      </Empty>
    )
  }
  return <Empty icon={Globe} title={texts.emptyEveryone} hint={texts.emptyEveryoneHint} />
}

function NoneOfMine(props: { onMake: () => void }) {
  const texts = useTexts('libraries')
  const { busy, start } = useFirstUpload()
  return (
    <Empty icon={LibraryBig} title={texts.emptyMine} hint={texts.emptyMineHint}>
      <div className="libraries-first">
        <Button variant="primary" icon={Plus} onClick={props.onMake}>
          {texts.newLibrary}
        </Button>
        <Button icon={Upload} busy={busy} onClick={() => void pickFiles().then(start)}>
          {texts.uploadFiles}
        </Button>
      </div>
    </Empty>
  )
}
