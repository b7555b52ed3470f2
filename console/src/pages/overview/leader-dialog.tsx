/** Asks before the leadership moves. No request fails when it does. */

import type { JSX } from "preact";
import { transferLeadership } from "../../api/index.ts";
import { FormDialog } from "../../ui/index.ts";
import type { MemberSeries } from "./member-series.ts";

export interface LeaderDialogProps {
  readonly member: MemberSeries;
  readonly onClose: () => void;
}

export function LeaderDialog({ member: { member }, onClose }: LeaderDialogProps): JSX.Element {
  return (
    <FormDialog
      title={`Make ${member.name} the leader`}
      action="Transfer"
      done={`${member.name} leads`}
      onClose={onClose}
      onSubmit={() => transferLeadership(member.id, member.status?.term ?? "0")}
    >
      <p>
        The leader passes the leadership on when <strong>{member.name}</strong> has the whole log. Requests wait for a
        moment and do not fail.
      </p>
    </FormDialog>
  );
}
