{{- define "quoin-cluster.notes" -}}
{{- $name := include "quoin-cluster.name" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $encrypted := include "quoin-cluster.encrypted" . -}}
The cluster {{ $name }} is there when

    kubectl --namespace {{ $namespace }} wait qc/{{ $name }} --for=condition=Ready --timeout=5m

Inside Kubernetes {{ $name }}.{{ $namespace }}.svc:7400 (gRPC) and :7401 (HTTP) reach any ready member, and every member takes every call.
{{- if contains " " (include "quoin-cluster.services" .) }}
{{ $name }}-leader.{{ $namespace }}.svc reaches the leader, one hop less for writes.
{{- end }}
The owner's email address, password and API key are in Secret {{ $name }}-owner{{ if $encrypted }}, the authority to trust in ConfigMap {{ $name }}-ca{{ end }}.

    KEY=$(kubectl --namespace {{ $namespace }} get secret {{ $name }}-owner -o jsonpath='{.data.api-key}' | base64 -d)
{{- if $encrypted }}
    CA=$(kubectl --namespace {{ $namespace }} get configmap {{ $name }}-ca -o jsonpath='{.data.ca\.crt}')
{{- end }}
    kubectl --namespace {{ $namespace }} run shell -it --rm --restart=Never --image={{ include "quoin-cluster.testImage" . }} \
      --env=QUOIN_ENDPOINTS={{ $name }}:7400 --env=QUOIN_HTTP_ENDPOINTS={{ if $encrypted }}https{{ else }}http{{ end }}://{{ $name }}:7401 \
      --env=QUOIN_API_KEY="$KEY"{{ if $encrypted }} --env=QUOIN_CA_PEM="$CA"{{ end }} -- \
      sh -c 'quoinctl kv put default/greeting hello && quoinctl kv get default/greeting'
{{- if .Values.test.enabled }}

    helm --namespace {{ $namespace }} test {{ .Release.Name }}
{{- end }}
{{- $storage := .Values.cluster.storage | default dict }}
{{- if ne ($storage.whenDeleted | default "Retain") "Delete" }}

When this release is uninstalled, volumes, identity and owner stay: installing it again brings the cluster back.
{{- else }}

WARNING: when this release is uninstalled, the volumes go with it (cluster.storage.whenDeleted is Delete).
{{- end }}
{{ end }}
