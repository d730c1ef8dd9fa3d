import './sharing.css'
import { useState } from 'react'
import type { Person } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, TextField } from '../ui/index.ts'
import { PeopleField } from './people-field.tsx'

/** Renames a group. */
export function RenameGroup(props: {
  name: string
  onRename: (name: string) => Promise<void>
  onClose: () => void
}) {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const [name, setName] = useState(props.name)
  return (
    <FormDialog
      title={common.rename}
      submit={common.rename}
      disabled={name.trim() === '' || name === props.name}
      onSubmit={() => props.onRename(name.trim())}
      onClose={props.onClose}
    >
      <TextField
        label={texts.groupName}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}

/** Transfers the ownership of a group. */
export function HandOverGroup(props: {
  owner: string
  hint?: string
  onHandOver: (email: string) => Promise<void>
  onClose: () => void
}) {
  const texts = useTexts('sharing')
  const [people, setPeople] = useState<readonly Person[]>([])
  const [person] = people
  return (
    <FormDialog
      title={texts.handOver}
      submit={texts.handOver}
      disabled={person === undefined}
      onSubmit={async () => person && props.onHandOver(person.email)}
      onClose={props.onClose}
    >
      {props.hint && <p className="muted">{props.hint}</p>}
      <PeopleField
        single
        label={texts.newOwner}
        chosen={people}
        onChange={setPeople}
        without={[props.owner]}
      />
    </FormDialog>
  )
}
