export default function TrashPage() {
  return <div className="page" />
}
