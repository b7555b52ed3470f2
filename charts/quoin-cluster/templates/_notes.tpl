{{- define "quoin-cluster.notes" -}}
{{- $name := include "quoin-cluster.name" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $encrypted := include "quoin-cluster.encrypted" . -}}
The cluster {{ $name }} is ready when this command succeeds:

    kubectl --namespace {{ $namespace }} wait qc/{{ $name }} --for=condition=Ready --timeout=5m

Inside Kubernetes {{ $name }}.{{ $namespace }}.svc:7400 (gRPC) and :7401 (HTTP) reach any ready member. Every member answers every call.
{{- if contains " " (include "quoin-cluster.services" .) }}
{{ $name }}-leader.{{ $namespace }}.svc reaches the leader, which saves a hop for writes.
{{- end }}
Secret {{ $name }}-owner holds the owner's email address, password and API key.{{ if $encrypted }} ConfigMap {{ $name }}-ca holds the certificate authority to trust.{{ end }}

To run quoinctl as the owner in a member's pod (the key goes through a pipe and is in no argument):

    qctl() {
      kubectl --namespace {{ $namespace }} get secret {{ $name }}-owner -o jsonpath='{.data.api-key}' | base64 -d |
        kubectl --namespace {{ $namespace }} exec -i {{ $name }}-0 -c quoin -- sh -c '
          QUOIN_API_KEY=$(cat) QUOIN_ENDPOINTS=localhost:7400 exec quoinctl{{ if $encrypted }} --ca /etc/quoin/ca/ca.crt{{ end }} "$@"' quoinctl "$@"
    }
    qctl kv put default/greeting hello
    qctl kv get default/greeting
{{- if .Values.test.enabled }}

    helm --namespace {{ $namespace }} test {{ .Release.Name }} --logs
{{- end }}
{{- $storage := .Values.cluster.storage | default dict }}
{{- if ne ($storage.whenDeleted | default "Retain") "Delete" }}

Uninstalling this release keeps volumes, identity and owner. To get the cluster back, install it again under the same name.
{{- else }}

WARNING: uninstalling this release deletes the volumes (cluster.storage.whenDeleted is Delete).
{{- end }}
{{ end }}
