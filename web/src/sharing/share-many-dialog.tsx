import './sharing.css'
import { type FormEvent, useState } from 'react'
import { addShares, type Person, type SharePermission, useGroups } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, Dialog, SelectField, useAction, useToast, visibleName } from '../ui/index.ts'
import { expiryOf } from './link-draft.ts'
import { PeopleField } from './people-field.tsx'
import { PermissionSelect } from './permission-select.tsx'
import type { Shared } from './share-dialog.tsx'
import { ExpiryField, hasExpiry, noExpiry } from './share-expiry.tsx'
import { ShareFailures } from './share-rows.tsx'

/** Names that are listed. The title says how many there are. */
const MAX_NAMES = 8

interface Failure {
  readonly name: string
  readonly reason: string
}

/** Shares several entries at once with people and a group. Lists what failed; the rest is shared. */
export function ShareManyDialog(props: { items: readonly Shared[]; onClose: () => void }) {
  const { items, onClose } = props
  const texts = useTexts('sharing')
  const act = useAction('shares', 'groups')
  const toast = useToast()
  const groups = useGroups()
  const [people, setPeople] = useState<readonly Person[]>([])
  const [group, setGroup] = useState('')
  const [permission, setPermission] = useState<SharePermission>('r')
  const [expiry, setExpiry] = useState(noExpiry)
  const [failed, setFailed] = useState<readonly Failure[]>([])
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    await act(async () => {
      const right = { permission, expires: expiryOf(expiry) }
      const failures: Failure[] = []
      for (const { libraryId, path, name, isDir } of items) {
        const place = { libraryId, path, ...(!isDir && { isFile: true }) }
        const outcomes = [
          ...(people.length > 0
            ? [await addShares(place, { type: 'user', to: people.map(({ email }) => email), ...right })]
            : []),
          ...(group === '' ? [] : [await addShares(place, { type: 'group', to: [group], ...right })]),
        ]
        for (const { email, group_name, error_msg } of outcomes.flatMap((outcome) => outcome.failed)) {
          failures.push({ name: `${name} → ${email ?? group_name ?? ''}`, reason: error_msg })
        }
      }
      setFailed(failures)
      if (failures.length > 0) return
      toast({ text: texts.sharedMany(items.length) })
      onClose()
    })
    setBusy(false)
  }
  const isReady = (people.length > 0 || group !== '') && hasExpiry(expiry)
  return (
    <Dialog wide onClose={onClose} title={texts.shareMany(items.length)}>
      <form className="sharing-add" onSubmit={(event) => void submit(event)}>
        <PeopleField label={texts.addPeople} chosen={people} onChange={setPeople} />
        {groups.data !== undefined && groups.data.length > 0 && (
          <SelectField
            label={texts.addGroup}
            value={group}
            onChange={(event) => setGroup(event.target.value)}
          >
            <option value="">{texts.noGroupChosen}</option>
            {groups.data.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
        <PermissionSelect value={permission} onChange={setPermission} withoutAdmin />
        <ExpiryField value={expiry} onChange={setExpiry} />
        <Button type="submit" variant="primary" busy={busy} disabled={!isReady}>
          {texts.shareNow}
        </Button>
        <ShareFailures failed={failed} />
      </form>
      <ul className="sharing-many" aria-label={texts.sharedItems}>
        {items.slice(0, MAX_NAMES).map(({ path, name }) => (
          <li key={path}>
            <bdi>{visibleName(name)}</bdi>
          </li>
        ))}
        {items.length > MAX_NAMES && <li>…</li>}
      </ul>
    </Dialog>
  )
}
