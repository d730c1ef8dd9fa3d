export default function DeletedPage() {
  return <div className="page" />
}
